import type { Random } from '../../../testkit/random.ts'

const MAX_REPEATED = 200
const SPECIAL = Buffer.from('\r\n\r\n :;,%?&=/#\0\t"{}[]0123456789\x7f\x80\xff', 'latin1')

/**
 * Some bytes of a request flipped, put in, taken out, repeated, or replaced by a piece of another request.
 *
 * @param others requests to take pieces from
 */
export function mutated(random: Random, bytes: Buffer, others: readonly Buffer[]): Buffer {
  let changed = Buffer.from(bytes)
  for (let changes = 1 + random.below(4); changes > 0; changes--) changed = mutatedOnce(random, changed, others)
  return changed
}

function mutatedOnce(random: Random, bytes: Buffer, others: readonly Buffer[]): Buffer<ArrayBuffer> {
  // Most of what is interesting stands in the head, at the beginning.
  const at = Math.min(bytes.length, random.chance(0.6) ? random.below(300) : random.below(bytes.length + 1))
  const to = Math.min(bytes.length, at + 1 + random.below(random.chance(0.8) ? 8 : 200))
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
  switch (random.below(6)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
      return flipped
    }
    case 1:
      return Buffer.concat([before, specialBytes(random), piece, after])
    case 2:
      return Buffer.concat([before, after])
    case 3:
      return Buffer.concat([before, ...Array<Buffer>(2 + random.below(MAX_REPEATED)).fill(piece), after])
    case 4:
      return Buffer.concat([before, pieceOf(random, others), after])
    default:
      return Buffer.concat([before, specialBytes(random), after])
  }
}

const specialBytes = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: 1 + random.below(4) }, () => SPECIAL[random.below(SPECIAL.length)] ?? 0))

function pieceOf(random: Random, others: readonly Buffer[]): Buffer {
  const other = random.anyOf(others)
  if (other === undefined) return Buffer.alloc(0)
  const at = random.below(other.length)
  return other.subarray(at, at + 1 + random.below(200))
}

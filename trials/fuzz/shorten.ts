import type { Failures } from './failures.ts'
import { sendAlone } from './wire/alone.ts'
import { takeAnswer } from './wire/answers.ts'

const TRIES_MAX = 150

/**
 * Shortens the bytes of each failure that a connection of its own repeats: pieces are taken out as long as the same status
 * comes back.
 */
export async function shortenFailures(port: number, failures: Failures): Promise<void> {
  for (const { what, bytes } of failures.withBytes) {
    const status = /^answered (\d+)/.exec(what)?.[1]
    if (status === undefined) continue
    const fails = async (candidate: Buffer) => (await statusOf(port, candidate)) === Number(status)
    if (await fails(bytes)) failures.shorten(what, await shortened(bytes, fails))
  }
}

async function statusOf(port: number, bytes: Buffer): Promise<number | null> {
  const { received } = await sendAlone(port, bytes)
  return takeAnswer(received, false, true)?.answer.status ?? null
}

/** Halves, then quarters and so on are taken out, down to single bytes. */
export async function shortened(bytes: Buffer, fails: (candidate: Buffer) => Promise<boolean>): Promise<Buffer> {
  let best = bytes
  let tries = 0
  for (let size = Math.floor(best.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= best.length && tries < TRIES_MAX; ) {
      const candidate = withLength(Buffer.concat([best.subarray(0, at), best.subarray(at + size)]))
      tries++
      if (await fails(candidate)) best = candidate
      else at += size
    }
  }
  return best
}

/** The head says the length of a body that was cut. */
function withLength(bytes: Buffer): Buffer {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return bytes
  const body = bytes.subarray(headEnd + 4)
  const head = bytes.toString('latin1', 0, headEnd).replace(/(?<=\r\nContent-Length: )\d+/, String(body.length))
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body])
}

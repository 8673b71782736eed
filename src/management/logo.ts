/** Larger pictures are no logos, bytes. */
export const LOGO_BYTES_MAX = 65_536
/** A side in px: a small file can hold a picture that takes gigabytes to draw. */
export const LOGO_SIDE_MAX = 1_024

export interface Logo {
  type: 'image/png' | 'image/jpeg' | 'image/webp'
  width: number
  height: number
}

type Size = Omit<Logo, 'type'>

/**
 * What a picture is by its own bytes, whatever its sender calls it: PNG, JPEG or WebP, which can hold no script. Null: none of them, or not
 * one that can be read to its size. SVG is left out on purpose.
 */
export function logoOf(bytes: Buffer): Logo | null {
  const png = pngSize(bytes)
  if (png !== null) return { type: 'image/png', ...png }
  const jpeg = jpegSize(bytes)
  if (jpeg !== null) return { type: 'image/jpeg', ...jpeg }
  const webp = webpSize(bytes)
  return webp === null ? null : { type: 'image/webp', ...webp }
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG) || fourcc(bytes, 12) !== 'IHDR') return null
  return sized(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
}

/** Goes from marker to marker until the one that begins a frame. */
function jpegSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return sized(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5))
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return null
    at += 2 + length
  }
  return null
}

function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 30 || fourcc(bytes, 0) !== 'RIFF' || fourcc(bytes, 8) !== 'WEBP') return null
  switch (fourcc(bytes, 12)) {
    case 'VP8 ':
      return bytes.readUIntBE(23, 3) === 0x9d012a
        ? sized(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
        : null
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return null
      const bits = bytes.readUInt32LE(21)
      return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case 'VP8X':
      return sized(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
    default:
      return null
  }
}

const fourcc = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4)

const sized = (width: number, height: number): Size | null => (width > 0 && height > 0 ? { width, height } : null)

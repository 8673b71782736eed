/**
 * Returns an image without what it says about itself: a photo names the place and the time it was taken, and programs name their
 * users. Only what is needed to draw it stays, so that no kind of metadata is forgotten; anything behind the image goes, too.
 *
 * @param bytes a PNG, JPEG or WebP whose first bytes were checked
 */
export function withoutMetadata(bytes: Buffer): Buffer {
  if (bytes[0] === 0x89) return pngDrawn(bytes)
  return bytes[0] === 0xff ? jpegDrawn(bytes) : webpDrawn(bytes)
}

/** Animation included. */
const PNG_CHUNKS =
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' ')

function pngDrawn(bytes: Buffer): Buffer {
  const parts = [bytes.subarray(0, 8)]
  for (let at = 8; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at + 4, at + 8)
    const end = at + 12 + bytes.readUInt32BE(at)
    if (PNG_CHUNKS.includes(name)) parts.push(bytes.subarray(at, end))
    if (name === 'IEND') break
    at = end
  }
  return Buffer.concat(parts)
}

const SCAN = 0xda
const END = 0xd9
/** What decoders need of the segments for applications, by marker: the format, colours, and how they are coded. */
const JPEG_APPS: Readonly<Record<number, string>> = { 224: 'JFIF\0', 226: 'ICC_PROFILE\0', 238: 'Adobe' }

function jpegDrawn(bytes: Buffer): Buffer {
  const parts = [bytes.subarray(0, 2)]
  for (let at = nextMarker(bytes, 2); at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? END
    // A phone may put a second photo behind the end, with metadata of its own.
    if (marker === END) break
    const ofSegment = at + 2 + bytes.readUInt16BE(at + 2)
    const end = nextMarker(bytes, ofSegment)
    const isOfApp = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe
    const name = JPEG_APPS[marker]
    const isNeeded = name !== undefined && bytes.toString('latin1', at + 4, at + 4 + name.length) === name
    // A scan is followed by its data, which reach to the next marker.
    if (!isOfApp || isNeeded) parts.push(bytes.subarray(at, marker === SCAN ? end : ofSegment))
    at = end
  }
  return Buffer.concat([...parts, Buffer.from([0xff, END])])
}

/** Returns where the next marker begins. In a scan's data, 0xff is also written as `ff 00`, and `ff d0` to `ff d7` divide it. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  return bytes.length
}

const WEBP_CHUNKS = ['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']
/** Bits that announce EXIF and XMP. */
const WEBP_ANNOUNCED = 0b1100

function webpDrawn(bytes: Buffer): Buffer {
  const parts = [bytes.subarray(0, 12)]
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4)
    const end = at + 8 + length + (length % 2)
    if (WEBP_CHUNKS.includes(bytes.toString('latin1', at, at + 4))) parts.push(bytes.subarray(at, end))
    at = end
  }
  const drawn = Buffer.concat(parts)
  drawn.writeUInt32LE(drawn.length - 8, 4)
  if (drawn.toString('latin1', 12, 16) === 'VP8X') drawn.writeUInt8(drawn.readUInt8(20) & ~WEBP_ANNOUNCED, 20)
  return drawn
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMetadata } from '../../src/management/logo-metadata.ts'
import { contrastOnWhite, logoOf } from '../../src/management/status-looks.ts'

/** The first bytes of a picture, as its format has them. */
const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  bytes.writeUInt32BE(13, 8)
  bytes.write('IHDR', 12, 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
const jpeg = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(40)
  // A comment of 4 bytes, then the frame.
  bytes.set([0xff, 0xd8, 0xff, 0xfe, 0, 6, 1, 2, 3, 4, 0xff, 0xc2, 0, 17, 8])
  bytes.writeUInt16BE(height, 15)
  bytes.writeUInt16BE(width, 17)
  return bytes
}
const webp = (kind: string, body: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(40)
  bytes.write(`RIFF0000WEBP${kind}`, 'latin1')
  bytes.set(body, 20)
  return bytes
}

const PICTURES: readonly (readonly [string, Buffer, string | null])[] = [
  ['a PNG', png(300, 80), 'image/png 300 80'],
  ['a JPEG behind a comment', jpeg(300, 80), 'image/jpeg 300 80'],
  ['a lossy WebP', webp('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 44, 1, 80, 0]), 'image/webp 300 80'],
  ['a lossless WebP', webp('VP8L', [0x2f, 0x2b, 0xc1, 0x13, 0]), 'image/webp 300 80'],
  ['an extended WebP', webp('VP8X', [0, 0, 0, 0, 43, 1, 0, 79, 0, 0]), 'image/webp 300 80'],
  ['a PNG without a width', png(0, 80), null],
  ['a JPEG that ends before its frame', jpeg(300, 80).subarray(0, 12), null],
  ['a JPEG whose marker has no length', Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0, 0]), null],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), null],
  ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), null],
  ['a GIF', Buffer.from('GIF89a and enough of what follows to be read as one'), null],
  ['nothing', Buffer.alloc(0), null],
]

for (const [title, bytes, expected] of PICTURES) {
  test(`logo: ${title} is ${expected ?? 'refused'}`, () => {
    const logo = logoOf(bytes)
    assert.equal(logo === null ? null : `${logo.type} ${logo.width} ${logo.height}`, expected)
  })
}

test('contrast is that of WCAG', () => {
  assert.equal(contrastOnWhite('#000000'), 21)
  assert.equal(contrastOnWhite('#ffffff'), 1)
  assert.equal(contrastOnWhite('#777777').toFixed(2), '4.48')
})

const SECRET = 'GPS 52.5N'
const pngChunk = (name: string, content: string | Buffer) => {
  const data = Buffer.from(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length)
  head.write(name, 4)
  return Buffer.concat([head, data, Buffer.alloc(4)])
}
const segment = (marker: number, content: string | readonly number[]) => {
  const data = typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(content)
  return Buffer.concat([Buffer.from([0xff, marker, 0, data.length + 2]), data])
}
const riffChunk = (name: string, data: Buffer) => {
  const head = Buffer.alloc(8)
  head.write(name)
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}
const riff = (...chunks: Buffer[]) => {
  const bytes = Buffer.concat([Buffer.from('RIFF0000WEBP'), ...chunks])
  bytes.writeUInt32LE(bytes.length - 8, 4)
  return bytes
}
const vp8x = (flags: number) => riffChunk('VP8X', Buffer.from([flags, 0, 0, 0, 43, 1, 0, 79, 0, 0]))
const pixels = riffChunk('VP8L', Buffer.from([0x2f, 0x2b, 0xc1, 0x13, 0]))
const frame = segment(0xc2, [8, 0, 80, 1, 44, 0, 0, 0, 0, 0])
// Its data have a stuffed byte, and a mark that divides them.
const scan = (...data: number[]) =>
  Buffer.concat([segment(0xda, [1, 2]), Buffer.from([7, 0xff, 0, 0xff, 0xd0, ...data])])
const SOI = Buffer.from([0xff, 0xd8])
const EOI = Buffer.from([0xff, 0xd9])
const jfif = segment(0xe0, 'JFIF\0')
const colours = segment(0xe2, 'ICC_PROFILE\0\u0001\u0001')
const adobe = segment(0xee, 'Adobe')
const whole = png(300, 80)
const drawn = [pngChunk('pHYs', 'size'), pngChunk('IDAT', 'pixels'), pngChunk('IEND', '')]

const UNDRESSED: readonly (readonly [string, Buffer, Buffer])[] = [
  [
    'a PNG loses texts, EXIF and what is behind its end',
    Buffer.concat([
      whole,
      ...['tEXt', 'iTXt', 'zTXt', 'eXIf', 'tIME', 'caBX'].map((name) => pngChunk(name, SECRET)),
      ...drawn,
      Buffer.from(SECRET),
    ]),
    Buffer.concat([whole, ...drawn]),
  ],
  [
    'a JPEG loses EXIF, comments, other segments of programs and the photo behind it, and keeps its colours',
    Buffer.concat([
      ...[
        SOI,
        jfif,
        segment(0xe1, `Exif\0\0${SECRET}`),
        segment(0xfe, SECRET),
        segment(0xe2, `MPF\0${SECRET}`),
        colours,
      ],
      ...[segment(0xeb, SECRET), adobe, frame, scan(1), segment(0xe1, SECRET), scan(2), EOI],
      ...[SOI, segment(0xe1, SECRET), frame, scan(3), EOI],
    ]),
    Buffer.concat([SOI, jfif, colours, adobe, frame, scan(1), scan(2), EOI]),
  ],
  [
    'a WebP loses EXIF and XMP, and no longer announces them',
    riff(vp8x(0b11_1100), pixels, ...['EXIF', 'XMP ', 'C2PA'].map((name) => riffChunk(name, Buffer.from(SECRET)))),
    riff(vp8x(0b11_0000), pixels),
  ],
]
for (const [title, bytes, expected] of UNDRESSED) {
  test(`logo: ${title}`, () => {
    const left = withoutMetadata(bytes)
    assert.deepEqual(left, expected)
    assert.deepEqual(logoOf(left), logoOf(bytes))
    assert.deepEqual(withoutMetadata(left), left)
    for (let length = 33; length < bytes.length; length++) withoutMetadata(bytes.subarray(0, length))
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contrastOnWhite, logoOf } from '../../src/management/status-looks.ts'

/** The first bytes of a picture, as its format has them. */
const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
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

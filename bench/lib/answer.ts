/**
 * The status of the one HTTP answer in `bytes`, or null while it is not whole yet.
 *
 * @throws Error when the bytes are no answer with a `Content-Length`, or more than one: with one request in flight that
 *   would be a fault of the server.
 */
export function answerStatus(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (status === undefined || length === undefined) throw new Error(`not an answer with a length: ${head}`)
  const end = headEnd + 4 + Number(length)
  if (bytes.length > end) throw new Error(`${bytes.length - end} bytes too many after the answer: ${head}`)
  return bytes.length === end ? Number(status) : null
}

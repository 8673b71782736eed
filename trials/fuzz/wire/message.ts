/** A request in parts, as bytes in latin1 texts: it need not be a valid one. */
export interface Message {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer | null
}

const LENGTH_HEADER = /^(?:content-length|transfer-encoding)$/i

/** The request as it goes over the wire. A body whose length no header gives gets a `Content-Length`. */
export function toBytes({ method, target, headers, body }: Message): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  if (body !== null && !headers.some(([name]) => LENGTH_HEADER.test(name))) lines.push(`Content-Length: ${body.length}`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return body === null ? head : Buffer.concat([head, body])
}

/** A body cut into chunks, after the rules. */
export function chunked(body: Buffer, sizes: () => number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + Math.max(1, sizes()))
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    at += piece.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

const SHOWN_BYTES = 4_096

/** Bytes as one line of text that `Buffer.from(…, 'latin1')` of the same JavaScript string turns back. */
export function escaped(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString('latin1', 0, SHOWN_BYTES)).replaceAll(
    /[\u007f-\u00ff]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16)}`,
  )
  return bytes.length > SHOWN_BYTES ? `${text} … (${bytes.length} bytes)` : text
}

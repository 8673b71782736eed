import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { ErrorBody } from './schemas.ts'

const STATUS_BY_CODE: Readonly<Record<string, { line: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'The headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive' },
}
const MALFORMED = { line: '400 Bad Request', message: 'The request is not valid HTTP' }

/** Answers what is not even a request (no route, no reply object exists yet) in the shape of every other error. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  // A peer that hung up cannot be answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { line, message } = STATUS_BY_CODE[error.code] ?? MALFORMED
  const body = JSON.stringify({ error: 'invalid_request', message, details: [] } satisfies ErrorBody)
  const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`HTTP/1.1 ${line}\r\n${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
}

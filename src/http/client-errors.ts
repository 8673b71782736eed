import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { ErrorBody } from './schemas.ts'

const STATUS_BY_CODE: Readonly<Record<string, { line: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'The headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'The request took too long to arrive' },
}
const MALFORMED = { line: '400 Bad Request', message: 'The request is not valid HTTP' }

/** Sockets whose broken request waits for the answers of those before it. */
const waiting = new WeakSet<Socket>()

/** Expired connections that are ended in one turn of the event loop. */
const ENDED_PER_TURN = 50
const expired: (() => void)[] = []

/**
 * Answers what is not even a request. Node looks for expired connections every few seconds and finds all at once: ending
 * thousands in one go would keep everybody else waiting.
 */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
    answer(error, socket)
    return
  }
  // A client that has not asked for anything waits for no answer.
  expired.push(() => (socket.bytesRead === 0 ? socket.destroy() : answer(error, socket)))
  if (expired.length === 1) setImmediate(endSome)
}

function endSome(): void {
  for (const end of expired.splice(0, ENDED_PER_TURN)) end()
  if (expired.length > 0) setImmediate(endSome)
}

/** No route and no reply object exist yet: the answer is written by hand, in the shape of every other error. */
function answer(error: ConnectionError, socket: Socket): void {
  // A peer that hung up cannot be answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (waiting.has(socket)) return
  const response = responseUnderWay(socket)
  if (response?.req.complete === true) {
    // In front of another request's answer this one would be taken for it, and inside of one it would spoil it.
    waiting.add(socket)
    response.once('close', () => {
      waiting.delete(socket)
      answer(error, socket)
    })
    return
  }
  if (response?.headersSent === true) {
    // It is this request's own body that broke, and it has its answer already.
    socket.end(() => socket.destroy())
    return
  }
  const { line, message } = STATUS_BY_CODE[error.code] ?? MALFORMED
  const full = { error: 'invalid_request', message, details: [] } satisfies ErrorBody
  const body = JSON.stringify(isForIngest(error) ? { error: full.error } : full)
  const type = 'Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff'
  const head = `${type}\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`HTTP/1.1 ${line}\r\n${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
}

/** Errors of ingest have one field. What came says where it was to go, if it begins with the first line of the request. */
function isForIngest({ rawPacket }: ConnectionError): boolean {
  return Buffer.isBuffer(rawPacket) && /^[A-Z]+ \/(api\/)?ingest[/? ]/.test(rawPacket.toString('latin1', 0, 32))
}

/** The response that the socket is to carry now, by Node's own note of it: Node has no public field for it. */
export function responseUnderWay(socket: Socket & { _httpMessage?: ServerResponse | null }): ServerResponse | null {
  return socket._httpMessage ?? null
}

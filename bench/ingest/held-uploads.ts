import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { residentMemory } from '../lib/machine.ts'
import type { Check } from '../lib/table.ts'

const UPLOADS = 100
const BODY_BYTES = 1_000_000
/** Of a body the first bytes arrive together with the head; that much may well be held for a moment. */
const MOST_MEGABYTES = 25
const PATIENCE_MS = 3_000

/**
 * Sends bodies of 1 MB with a key that is refused, all but their last byte, and looks at what that costs the server: it
 * is to keep none of the 100 MB, and to answer 401 at the head already, in a way that reaches a sender who is still
 * writing (a connection closed over unread bytes is reset, and the answer lost with it).
 */
export async function heldUploads(server: ServerProcess, key: string): Promise<Check[]> {
  const before = residentMemory(server.pid).nowMb
  const uploads = Array.from({ length: UPLOADS }, () => startUpload(server.port, key))
  await sleep(PATIENCE_MS)
  const grownMb = Math.max(0, residentMemory(server.pid).nowMb - before)
  const answered = uploads.filter((upload) => upload.answer().startsWith('HTTP/1.1 401 ')).length
  for (const upload of uploads) upload.socket.destroy()
  const what = `${UPLOADS} bodies of 1 MB with a refused key`
  return [
    {
      what: `${what}: memory`,
      value: `${grownMb.toFixed(0)} MB more, ${(grownMb / UPLOADS).toFixed(2)} of what was sent`,
      target: `< ${MOST_MEGABYTES} MB`,
      reached: grownMb < MOST_MEGABYTES,
    },
    {
      what: `${what}: refused before their end`,
      value: `${answered} senders`,
      target: `${UPLOADS}`,
      reached: answered === UPLOADS,
    },
  ]
}

function startUpload(port: number, key: string): { socket: Socket; answer: () => string } {
  let answer = ''
  const socket = connect({ host: '127.0.0.1', port })
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    answer += text
  })
  // The server may end the connection while the body is still being sent: that is a fine answer to it.
  socket.on('error', () => undefined)
  socket.write(
    `POST /ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Service-Key: ${key}\r\n` +
      `Content-Length: ${BODY_BYTES}\r\n\r\n`,
  )
  socket.write(Buffer.alloc(BODY_BYTES - 1, ' '))
  return { socket, answer: () => answer }
}

import { connect } from 'node:net'

/** How a connection of one broken request went. */
export interface Course {
  received: Buffer
  /** `stuck`: the server neither answered nor ended it. */
  end: 'closed' | 'stuck' | 'not connected'
  /** Whether we ended our side before the server did: an answer under way may then be cut off. */
  isCut: boolean
  isConnected: boolean
}

/** After this long without a byte the sender says that it has sent everything. */
const SILENCE_MS = 120
/** A request has 30 s to arrive, and the server looks every 5 s. In ticks, so that a stall of our own counts as one of them. */
const STUCK_TICKS = 45
const TICK_MS = 1_000
const EVENT_STREAM = /\r\ncontent-type: text\/event-stream/i

/**
 * Sends bytes on a connection of their own and gathers what comes back until it ends.
 *
 * @param pauses places at which the bytes are cut into packets of their own
 * @param hangUp ends the connection at once after sending, without waiting for an answer
 */
export async function sendAlone(
  port: number,
  bytes: Buffer,
  { pauses = [], hangUp = false }: { pauses?: readonly number[]; hangUp?: boolean } = {},
): Promise<Course> {
  const received: Buffer[] = []
  const { promise, resolve } = Promise.withResolvers<Course['end']>()
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  let isConnected = false
  let isCut = false
  let silence: NodeJS.Timeout | undefined
  let ticks = 0
  const stuck = setInterval(() => {
    if (++ticks >= STUCK_TICKS) resolve('stuck')
  }, TICK_MS)
  const startSilence = () => {
    clearTimeout(silence)
    silence = setTimeout(() => {
      isCut = true
      if (EVENT_STREAM.test(received[0]?.toString('latin1') ?? '')) resolve('closed')
      else socket.end()
    }, SILENCE_MS)
  }
  socket.on('connect', () => {
    isConnected = true
    let from = 0
    for (const to of [...pauses, bytes.length]) {
      if (to > from) socket.write(bytes.subarray(from, to))
      from = Math.max(from, to)
    }
    if (hangUp) resolve('closed')
    else startSilence()
  })
  socket.on('data', (chunk) => {
    received.push(chunk)
    startSilence()
  })
  socket.on('end', () => resolve('closed'))
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(isConnected ? 'closed' : 'not connected'))
  const end = await promise
  clearInterval(stuck)
  clearTimeout(silence)
  if (hangUp) socket.destroy()
  else socket.resetAndDestroy()
  return { received: Buffer.concat(received), end, isCut, isConnected }
}

import type { ServerResponse } from 'node:http'

/** Whether this response can no longer reach its caller. */
export const isGone = (response: ServerResponse): boolean => response.closed || response.req.socket.destroyed

/**
 * Calls `act` once when the response is over: sent whole, cut, or never begun because its connection ended. Node emits `close` only
 * on a response that has the connection, which one behind another's answer (pipelining) has not yet.
 */
export function onceGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req
  const end = () => {
    response.off('close', end)
    socket.off('close', end)
    act()
  }
  if (isGone(response)) {
    act()
    return
  }
  response.once('close', end)
  socket.once('close', end)
}

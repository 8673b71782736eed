import { createOutbound, OutboundError, type OutboundThreadOptions, type OwnedOutbound } from '../src/outbound/index.ts'

/**
 * Outbound requests without the program's thread: starting one took 0.25 s of processor time in every test whose service makes any, and few
 * tests are about threads.
 */
export function openOutboundWithoutThread(options: OutboundThreadOptions): OwnedOutbound {
  const outbound = createOutbound(options)
  const end = new AbortController()
  /** Aborts the request when `close` is called, as ending a thread does. */
  const untilEnd = async <T>(
    asked: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    if (end.signal.aborted) throw new Error('the service stops')
    try {
      return await asked(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]))
    } catch (thrown) {
      if (!end.signal.aborted) throw thrown
      throw new OutboundError('interrupted', 'the service stops')
    }
  }
  return {
    request: (url, request) => untilEnd((signal) => outbound.request(url, { ...request, signal }), request?.signal),
    fetchBytes: (url, request) =>
      untilEnd((signal) => outbound.fetchBytes(url, { ...request, signal }), request?.signal),
    resolve: (host, more) => untilEnd((signal) => outbound.resolve(host, { ...more, signal }), more?.signal),
    async close() {
      end.abort()
    },
  }
}

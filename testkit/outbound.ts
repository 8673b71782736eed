import { createOutbound, OutboundError, type OutboundThreadOptions, type OwnedOutbound } from '../src/outbound/index.ts'

/**
 * What asks other systems, in this process. The program gives it a thread; starting one took a quarter of a second of the processor in
 * every test whose service asks something, and few tests are about threads.
 */
export function openOutboundWithoutThread(options: OutboundThreadOptions): OwnedOutbound {
  const outbound = createOutbound(options)
  const end = new AbortController()
  /** Asks until the end, which nobody waits for longer than for that of a thread. */
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

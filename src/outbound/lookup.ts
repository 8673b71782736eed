import { Resolver, lookup as systemResolve } from 'node:dns/promises'
import { asError, codeOf } from '../lib/index.ts'

/** Returns all addresses of a name, in the order in which they are tried. */
export type OutboundLookup = (host: string) => Promise<readonly string[]>

interface LookupOptions {
  /** The DNS servers, by default the system's; tests replace them. */
  servers?: readonly string[]
  /** The system's resolver by default; tests replace it. */
  resolve?: OutboundLookup
  /** How long the servers are waited for. The time doubles with each try: 6 s in all by default, less than a request has. */
  question?: { timeout: number; tries: number }
}

const QUESTION = { timeout: 2_000, tries: 2 }
/** A name server of the name, or the way to it, gave no answer. */
const UNANSWERED: readonly string[] = ['ETIMEOUT', 'ESERVFAIL']
const NONE: readonly string[] = ['ENOTFOUND', 'ENODATA']

/**
 * Returns the system's lookup, behind a question to the DNS servers whether the name is answered at all. The system's resolver
 * blocks one of libuv's threads until it gives up, for 10 s and more, and a process has two for it: two names of dead name servers
 * would make the lookups of all other sites fail. The question blocks none. Hosts files and search domains keep their meaning:
 * of the names without an answer, the system is asked for one at a time. A machine whose DNS servers have never answered is left
 * to the system.
 */
export function createLookup({
  servers,
  resolve = systemLookup,
  question = QUESTION,
}: LookupOptions = {}): OutboundLookup {
  let isDnsWorking = false
  let isDoubtAsked = false
  return async (host) => {
    // Such a name is in a hosts file, or means another one with a search domain.
    if (!host.includes('.')) return resolve(host)
    const resolver = new Resolver(question)
    if (servers !== undefined) resolver.setServers(servers)
    const asked = ask(resolver, host).then((fault) => {
      isDnsWorking ||= fault === null
      return fault
    })
    try {
      const fault = isDnsWorking ? await asked : null
      if (fault === null || !UNANSWERED.includes(codeOf(fault))) return await resolve(host)
      if (isDoubtAsked) throw fault
      isDoubtAsked = true
      return await resolve(host).finally(() => {
        isDoubtAsked = false
      })
    } catch (thrown) {
      resolver.cancel()
      throw thrown
    }
  }
}

/** Returns null once any server has answered, even that there is no such name; otherwise the error. */
async function ask(resolver: Resolver, host: string): Promise<Error | null> {
  const answered = (answer: Promise<unknown>) =>
    answer.then(
      () => null,
      (thrown: unknown) => {
        if (!NONE.includes(codeOf(thrown))) throw thrown
      },
    )
  try {
    await Promise.any([answered(resolver.resolve4(host)), answered(resolver.resolve6(host))])
    return null
  } catch (thrown) {
    const [first] = thrown instanceof AggregateError ? thrown.errors : [thrown]
    return asError(first)
  }
}

const systemLookup: OutboundLookup = async (host) => {
  const found = await systemResolve(host, { all: true })
  return found.map(({ address }) => address)
}

import { Resolver, lookup as systemResolve } from 'node:dns/promises'
import { withoutRootDot } from './allow.ts'
import type { OutboundLookup } from './connect.ts'

/** Where a name leads. */
export interface NameFacts {
  addresses: readonly string[]
  /** The names that the asked one stands for (CNAME), in the order in which they lead on; only when asked for. */
  aliases: readonly string[]
}

export const systemLookup: OutboundLookup = async (host) => {
  const found = await systemResolve(host, { all: true })
  return found.map(({ address }) => address)
}

/** The DNS servers' own answer: the system's resolver follows aliases without reporting them. */
export const systemAliases: OutboundLookup = (host) => new Resolver({ timeout: 2_000, tries: 1 }).resolveCname(host)

/** Longer chains are loops, or as good as none: resolvers give up on them, too. */
const MAX_ALIASES = 8

/** A name without aliases is answered with an error, as is one that cannot be looked up: both have none that are known. */
export async function aliasesOf(host: string, lookup: OutboundLookup): Promise<string[]> {
  const aliases: string[] = []
  for (let name: string | undefined = host; name !== undefined && aliases.length < MAX_ALIASES; ) {
    const [next]: readonly string[] = await lookup(name).catch(() => [])
    name = next === undefined ? undefined : withoutRootDot(next.toLowerCase())
    if (name !== undefined) aliases.push(name)
  }
  return aliases
}

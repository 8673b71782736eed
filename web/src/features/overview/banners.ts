import { counted, unbroken, whole } from '../../lib/words.ts'

/** Maximum number of clients named; the clients page has all. */
const NAMED = 5

interface ClientNearQuota {
  id: string
  name: string
  events: number
  limit: number
  level: 'warning' | 'exceeded'
}

/** The words of one banner: "1 client has used up its quota: …", the clients named, and how many more. */
interface QuotaWords {
  level: ClientNearQuota['level']
  words: string
  named: readonly { id: string; name: string; used: string }[]
  more: number
}

/** A banner for clients whose events are refused, and one for those close to it. */
export function quotaWords(clients: readonly ClientNearQuota[]): QuotaWords[] {
  return (['exceeded', 'warning'] as const).flatMap((level) => {
    const those = clients.filter((client) => client.level === level)
    if (those.length === 0) return []
    const named = those.slice(0, NAMED).map(({ id, name, events, limit }) => ({
      id,
      name,
      // Rounded down, so that 100 % always means used up.
      used: unbroken(`${Math.floor((100 * events) / limit)} % of ${whole(limit)} events`),
    }))
    return [{ level, words: headingOf(level, those.length), named, more: those.length - named.length }]
  })
}

function headingOf(level: ClientNearQuota['level'], count: number): string {
  const isOne = count === 1
  const who = `${counted(count, 'client')} ${isOne ? 'has' : 'have'}`
  if (level === 'warning') return `${who} nearly used up ${isOne ? 'its' : 'their'} events for this month`
  const sent = isOne ? 'its events for this month: nothing it sends' : 'their events for this month: nothing they send'
  return `${who} used up ${sent} is counted until the month ends (UTC)`
}

interface NamedClient {
  id: string
  name: string
}

/** "2 clients have no way to be notified: add a channel", which ones, and how many more. @param mayAdd of any of them */
export function noChannel(
  clients: readonly NamedClient[],
  mayAdd: boolean,
): {
  words: string
  named: readonly NamedClient[]
  more: number
} {
  const has = clients.length === 1 ? 'has' : 'have'
  return {
    words: `${counted(clients.length, 'client')} ${has} no way to be notified${mayAdd ? ': add a channel' : ''}`,
    named: clients.slice(0, NAMED),
    more: Math.max(0, clients.length - NAMED),
  }
}

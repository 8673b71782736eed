import { counted } from '../../lib/words.ts'

/** Clients that are named; the page of clients has them all. */
const NAMED = 5

interface Client {
  id: string
  name: string
}

/** "2 clients have no way to be notified: add a channel", which ones, and how many more. */
export function noChannel(clients: readonly Client[]): { words: string; named: readonly Client[]; more: number } {
  const has = clients.length === 1 ? 'has' : 'have'
  return {
    words: `${counted(clients.length, 'client')} ${has} no way to be notified: add a channel`,
    named: clients.slice(0, NAMED),
    more: Math.max(0, clients.length - NAMED),
  }
}

import { Type } from 'typebox'
import { entriesOf, pickAll, reading } from '../tool.ts'
import { closed, limit, optionalId, rowsOf } from './inputs.ts'

const offset = Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: 'Entries to leave out first' }))

/** A part of a list that the interface gives as a whole. */
function partOf(list: unknown, names: readonly string[], from: number, rows: number) {
  const all = entriesOf(list)
  const end = from + rows
  return {
    total: all.length,
    entries: pickAll(all.slice(from, end), names),
    next_offset: end < all.length ? end : null,
  }
}

export const listClients = reading({
  name: 'list_clients',
  title: 'List clients',
  description: 'The clients, whose sites are watched, oldest first.',
  input: Type.Object({ limit, offset }, closed),
  async run({ limit: rows, offset: from = 0 }, { ask }) {
    const clients = await ask('GET', '/api/clients')
    return partOf(clients, ['id', 'name', 'is_active', 'plan', 'digest'], from, rowsOf(rows))
  },
})

export const listSites = reading({
  name: 'list_sites',
  title: 'List sites',
  description: 'The sites of one client or of all, oldest first, with when each last sent an event.',
  input: Type.Object({ client_id: optionalId('Only sites of this client'), limit, offset }, closed),
  async run({ client_id, limit: rows, offset: from = 0 }, { ask }) {
    const sites = await ask('GET', '/api/sites', { query: { client_id } })
    const names = ['id', 'client_id', 'name', 'url', 'timezone', 'is_active', 'last_event_at']
    return partOf(sites, names, from, rowsOf(rows))
  },
})

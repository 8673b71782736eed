import { Type } from 'typebox'
import { before, closed, entriesOf, id, limit, offset, partOf, pickAll, reading, rowsOf } from '../tool.ts'

export const PROBE_FIELDS = [
  ...['id', 'name', 'probe_type', 'is_active', 'last_status', 'last_message', 'last_result_at'],
  ...['consecutive_failures', 'interval_seconds'],
]

export const listProbes = reading({
  name: 'list_probes',
  title: 'List probes of a site',
  description:
    'The checks of a site with their last result: ok, warning and critical judge the site, error says that the check could not be made.',
  input: Type.Object({ site_id: id('The site'), limit, offset }, closed),
  async run({ site_id, limit: rows, offset: from = 0 }, { ask }) {
    const probes = await ask('GET', '/api/probes', { query: { site_id } })
    return partOf(probes, PROBE_FIELDS, from, rowsOf(rows))
  },
})

export const probeResults = reading({
  name: 'probe_results',
  title: 'Results of a probe',
  description: 'What a check found, newest first, with the figures that it judged by.',
  input: Type.Object({ probe_id: id('The probe'), limit, before }, closed),
  async run({ probe_id, limit: rows, before: older }, { ask }) {
    const most = Math.min(rowsOf(rows), 50)
    const results = entriesOf(
      await ask('GET', `/api/probes/${probe_id}/results`, { query: { limit: most, before: older } }),
    )
    const names = ['id', 'status', 'judged', 'reason', 'message', 'details', 'executed_at', 'maintenance_id']
    return {
      entries: pickAll(results, names),
      next_before: results.length < most ? null : (results.at(-1)?.id ?? null),
    }
  },
})

import { Type } from 'typebox'
import { before, closed, id, limit, offset, pageOf, partOf, reading, rowsOf } from '../tool.ts'

export const PROBE_FIELDS = [
  ...['id', 'name', 'probe_type', 'is_active', 'paused_by', 'last_status', 'last_message', 'last_result_at'],
  ...['consecutive_failures', 'interval_seconds'],
]

export const listProbes = reading({
  name: 'list_probes',
  title: 'List probes of a site',
  description:
    'The checks of a site with their last result: ok, warning and critical judge the site, error means that the check itself could not run.',
  input: Type.Object({ site_id: id('The site'), limit, offset }, closed),
  async run({ site_id, limit: rows, offset: from = 0 }, { ask }) {
    const probes = await ask('GET', '/api/probes', { query: { site_id } })
    return partOf(probes, PROBE_FIELDS, from, rowsOf(rows))
  },
})

export const probeResults = reading({
  name: 'probe_results',
  title: 'Results of a probe',
  description: 'The results of a check, newest first, with the figures that they are based on.',
  input: Type.Object({ probe_id: id('The probe'), limit, before }, closed),
  async run({ probe_id, limit: rows, before: older }, { ask }) {
    const names = ['id', 'status', 'judged', 'reason', 'message', 'details', 'executed_at', 'maintenance_id']
    return pageOf(
      (count) => ask('GET', `/api/probes/${probe_id}/results`, { query: { limit: count, before: older } }),
      names,
      Math.min(rowsOf(rows), 50),
    )
  },
})

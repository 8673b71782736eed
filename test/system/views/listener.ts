import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { bearer } from '../../../testkit/api.ts'
import { until } from '../../../testkit/until.ts'
import { ADMIN } from '../../management/support.ts'
import type { Overview, Say } from './compare.ts'
import { lasts, type Truth } from './truth.ts'

/** A dashboard that stays open: what it has of alerts and probes, from the changes that it was sent. */
export async function listen(t: TestContext, url: string) {
  const request = get(`${url}/api/stream`, { agent: false, headers: bearer(ADMIN) })
  t.after(() => request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const alerts = new Map<string, string>()
  const probes = new Map<string, string>()
  let rest = ''
  let isLive = false
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const [, kind, data = '{}'] = /^event: (.+)\ndata: (.+)$/.exec(part) ?? []
      if (kind !== undefined) isLive = true
      const told = JSON.parse(data) as Told
      if (kind === 'alerts') for (const { id, ...alert } of told.alerts) apply(alerts, id, alert)
      if (kind === 'status') for (const { id, status } of told.probes) probes.set(id, status)
    }
  })
  response.on('error', () => undefined) // of the connection that the end of the test cuts
  await until('the stream is live', () => isLive || undefined)
  return { alerts, probes }
}

type Listener = Awaited<ReturnType<typeof listen>>

/** What it has is what a page that is opened now would have; it gets changes every two seconds. */
export async function compareListener(say: Say, { alerts, probes }: Listener, truth: Truth, overview: Overview) {
  const lasting = new Map(
    truth.alerts.filter(lasts).map(({ id, state, severity, title }) => [id, `${state} ${severity} ${title}`]),
  )
  const shown = new Map(
    overview.clients.flatMap(({ sites }) => sites.flatMap((site) => site.probes.map((one) => [one.id, one.status]))),
  )
  const isSame = () =>
    isDeepStrictEqual(sorted(alerts), sorted(lasting)) &&
    [...shown].every(([id, status]) => (probes.get(id) ?? status) === status)
  await until('the listener knows', () => isSame() || undefined, PATIENCE_MS).catch(() => undefined)
  say('alerts of a listener', sorted(alerts), sorted(lasting))
  for (const [id, status] of shown) say(`probe ${id} of a listener`, probes.get(id) ?? status, status)
}

const PATIENCE_MS = 20_000
const sorted = (map: ReadonlyMap<string, string>) => [...map].toSorted()

interface Told {
  alerts: { id: string; state: string; severity: string; title: string }[]
  probes: { id: string; status: string }[]
}

function apply(
  alerts: Map<string, string>,
  id: string,
  { state, severity, title }: Omit<Told['alerts'][number], 'id'>,
) {
  if (state === 'resolved') alerts.delete(id)
  else alerts.set(id, `${state} ${severity} ${title}`)
}

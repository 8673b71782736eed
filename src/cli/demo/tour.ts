import { isoTime } from '../../lib/index.ts'
import type { Incident } from './incidents.ts'
import type { DemoSite } from './sites.ts'

export interface Tour {
  /** Of the service. */
  address: string
  /** Shows the messages to the clients. */
  chatPage: string
  sites: readonly DemoSite[]
  incidents: readonly Incident[]
  now: number
}

/** Where to look first, for someone who sees Tagwarden for the first time: pages of the dashboard. */
export function tourLines({ address, chatPage, sites, incidents, now }: Tour): string[] {
  return [
    '',
    'The dashboard:',
    `  ${address}/`,
    ...sites.flatMap(({ profile, row }) => {
      const current = incidents.filter(({ site, from, to }) => site === profile && from <= now && now < to)
      return [
        `${profile.name} (${profile.client.name}, ${profile.timezone}, ${sendModeOf(profile.batchSize)}):`,
        `  ${address}/sites/${row.id}`,
        ...current.flatMap((incident) => [`  now: ${describe(incident)}`, `  ${address}/alerts`]),
      ]
    }),
    'Notifications to clients, in the chat of the demo:',
    `  ${chatPage}`,
    'Every endpoint:',
    `  ${address}/api/docs`,
    '',
  ]
}

const sendModeOf = (batchSize: number | null): string =>
  batchSize === null ? 'one request per event' : `batches of ${batchSize} events`

function describe(incident: Incident): string {
  const since = `since ${isoTime(incident.from)}`
  switch (incident.kind) {
    case 'tag fails':
      return `${incident.tag} fails on about ${Math.round(incident.share * 100)} % of ${incident.event} events ${since}`
    case 'tag does not fire':
      return `${incident.tag} does not fire ${since}`
    case 'transaction ids are lost':
      return `transaction ids are missing ${since}`
    case 'nothing arrives':
      return `nothing arrives ${since}`
  }
}

import type { DiagnosticsAnswer, RecentAnswer } from '../../api/analytics.ts'
import type { Status } from '../../api/overview.ts'
import { counted } from '../../lib/words.ts'
import { environmentOf } from '../site/payload.ts'
import { containerOf } from './checks.ts'
import { SAMPLE_CONTAINER } from './ingest.ts'

/** A possible reason why no event arrives, and what to do. */
export interface Trouble {
  id: string
  status: Extract<Status, 'warning' | 'unknown'>
  title: string
  text: string
}

export interface Facts {
  recent: RecentAnswer
  diagnostics: DiagnosticsAnswer
  /** Host of the tag's endpoint. */
  endpointHost: string
  /** Host of this page. */
  pageHost: string
  /** How long the site has been waiting, ms. */
  waitedMs: number
}

/** Importing and publishing a template takes a few minutes; after this time, silence is suspicious. */
const PATIENCE_MS = 10 * 60_000

/** The known reasons first, then what to check by hand. */
export function troublesOf(facts: Facts): Trouble[] {
  return [
    ...previewTrouble(facts.recent),
    ...hostTrouble(facts),
    ...facts.diagnostics.connection.map(({ code, message }) => ({
      id: code,
      status: 'warning' as const,
      title: CONNECTION_TITLES[code],
      text: `${message}.`,
    })),
    ...strangerTroubles(facts.diagnostics.without_site),
    ...silenceTroubles(facts),
  ]
}

/** Applies when the tag sent events only from a preview, or from an environment whose events are not counted. */
function previewTrouble({ accepted }: RecentAnswer): Trouble[] {
  const own = accepted.filter((payload) => containerOf(payload) !== SAMPLE_CONTAINER)
  if (own.length === 0 || !own.every((payload) => 'preview' in payload && payload.preview === true)) return []
  const environment = own.map(environmentOf).find((name) => name !== '')
  if (environment !== undefined) return [environmentTrouble(environment)]
  const text = `${counted(own.length, 'event')} came from the preview mode of Tag Manager, which no report counts. The connection works: publish the container.`
  return [{ id: 'preview', status: 'warning', title: 'Only previews arrived', text }]
}

const environmentTrouble = (environment: string): Trouble => ({
  id: 'environment',
  status: 'warning',
  title: 'Only another environment sent events',
  text: `Events come from the environment “${environment}”, which the tag keeps out of the counts. The connection works. If that is where your visitors are, type its name into the tag: Advanced, Live environment.`,
})

function hostTrouble({ endpointHost, pageHost }: Facts): Trouble[] {
  if (endpointHost === pageHost) return []
  const text = `This page was opened at ${pageHost}. Check whether ${endpointHost} also leads to Tagwarden from the internet, and correct PUBLIC_URL if it does not.`
  return [{ id: 'host', status: 'unknown', title: `The tag sends to ${endpointHost}`, text }]
}

const CONNECTION_TITLES: Readonly<Record<DiagnosticsAnswer['connection'][number]['code'], string>> = {
  forwarded_http: 'The proxy accepts http',
  public_url_unset: 'PUBLIC_URL is not set',
  proxy_not_trusted: 'The proxy is not trusted',
}

/** Faults of requests without a known key, which may come from this site's sender or from anyone. */
const STRANGERS: Readonly<Record<string, { title: string; todo: string }>> = {
  unauthorized: {
    title: 'A key of no site',
    todo: 'Copy the key of step 2 again: it may be of a site that was deleted, or of another Tagwarden.',
  },
  malformed_key: {
    title: 'Something that is not a key',
    todo: 'A key has 43 characters. It may have been cut off, or be the name of a variable that is empty in the container.',
  },
  misplaced_key: {
    title: 'An unknown key, and in the wrong place',
    todo: 'Send the key of step 2 in the header X-Service-Key.',
  },
  no_key: {
    title: 'No key',
    todo: 'Send the key of step 2 in the header X-Service-Key. Some proxies drop headers that they do not know.',
  },
  method_not_allowed: {
    title: 'Not a POST, and no key',
    todo: 'Opening the endpoint in a browser does that. A redirect by the proxy, such as from http to https, also turns a POST into a GET.',
  },
}

const strangerTroubles = (without: DiagnosticsAnswer['without_site']): Trouble[] =>
  without.flatMap(({ reason, requests }) => {
    const words = STRANGERS[reason]
    if (words === undefined) return []
    const came = `${counted(requests, 'request')} to this service in the last hour, of an unknown sender.`
    return [{ id: reason, status: 'unknown' as const, title: words.title, text: `${came} ${words.todo}` }]
  })

/** Applies when nothing came from the tag, not even a refused request: the fault is before Tagwarden. */
function silenceTroubles({ recent, diagnostics, waitedMs, endpointHost }: Facts): Trouble[] {
  const own = recent.accepted.filter((payload) => containerOf(payload) !== SAMPLE_CONTAINER)
  if (waitedMs < PATIENCE_MS || own.length + recent.rejections.length > 0) return []
  if (diagnostics.without_site.some(({ reason }) => reason !== 'method_not_allowed')) return []
  const isWayOpen = recent.accepted.length > 0
  return SILENCE.filter(({ id }) => !isWayOpen || id !== 'reachable').map((words) => ({
    ...words,
    title: words.title.replace('{host}', endpointHost),
    status: 'unknown' as const,
  }))
}

/** In the order in which to check them. A sample that arrived rules out the second. */
const SILENCE: readonly Omit<Trouble, 'status'>[] = [
  {
    id: 'published',
    title: 'Is the container published?',
    text: 'Tag Manager, Versions: the newest has to be published, with the tag on a trigger that fires on all events. Preview shows whether it fires.',
  },
  {
    id: 'reachable',
    title: 'Can the tag server reach {host}?',
    text: 'Run the line of step 3 on a machine outside your network. No connection: the name does not lead here, or a firewall blocks the port (443 for https). A certificate error: renew it, with its whole chain.',
  },
  {
    id: 'blocked',
    title: 'Does something in between answer?',
    text: 'Preview shows what the request was answered. A 403 or 404 with a page of HTML is from a proxy or a firewall: have it let POST /ingest through with all headers.',
  },
]

import { Loader, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  diagnosticsQuery,
  type RecentAnswer,
  recentQuery,
  siteReportQuery,
  timeseriesQuery,
} from '../../api/analytics.ts'
import { usageQuery } from '../../api/clients.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { useNow } from '../../lib/external.ts'
import { whole } from '../../lib/words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { masked } from '../../ui/Secret.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { checksOf, containerOf, isTagHeard } from './checks.ts'
import { curlLine, type IngestAddress, SAMPLE_CONTAINER } from './ingest.ts'
import { SetupStep } from './KeyStep.tsx'
import { adviceOf, groupsOf, type RejectionGroup } from './rejections.ts'
import classes from './setup.module.css'
import { type Trouble, troublesOf } from './troubles.ts'

interface Props {
  site: SiteRecord
  ingest: IngestAddress
}

/** Poll interval until the first event arrives, ms. */
export const WAITING_MS = 5_000

const isSample = (payload: RecentAnswer['accepted'][number]): boolean => containerOf(payload) === SAMPLE_CONTAINER
const hasSample = (recent: RecentAnswer | undefined): boolean => recent?.accepted.some(isSample) === true

/** Sends one event from the command line, to test the way to Tagwarden without Tag Manager. */
export function TryStep({ site, ingest }: Props) {
  const { data } = useQuery({
    ...recentQuery(site.id),
    // Poll, because samples are not counted and the stream does not report them.
    refetchInterval: ({ state }) => (hasSample(state.data) ? false : WAITING_MS),
  })
  const [openedAt] = useState(() => Date.now())
  const sample = data?.accepted.find(isSample)
  const key = site.ingest_key
  return (
    <SetupStep
      number={3}
      title="Try it"
      state={sample === undefined ? 'open' : 'done'}
      word={
        sample === undefined ? (
          'optional'
        ) : (
          <>
            sample arrived <RelativeTime at={sample.accepted_at} zone={site.timezone} />
          </>
        )
      }
    >
      <p>
        Sends one event called <code>sample</code>, from any machine. The answer is <code>{'{"status":"ok"}'}</code>,
        and this step turns green. No report counts it.
      </p>
      <div className={classes.terminal}>
        <pre className={classes.pre}>{curlLine(ingest, key === null ? '$INGEST_KEY' : masked(key), openedAt)}</pre>
        <CopyButton text={curlLine(ingest, key ?? '$INGEST_KEY', openedAt)} what="curl line" />
      </div>
      <p className={classes.muted}>
        {key === null
          ? "Replace $INGEST_KEY with the site's key, which editors of the client can see."
          : 'The key is masked here; the button copies it in full.'}
      </p>
    </SetupStep>
  )
}

/** Waits for the site's first event, then checks what it sent. */
export function FirstEventStep({ site, ingest }: Props) {
  const { last_event_at } = site
  if (last_event_at === null) {
    return (
      <SetupStep number={4} title="Waiting for the first event…" state="waiting" word="listening">
        <p className={classes.listening}>
          <Loader size={16} aria-hidden="true" />
          This page listens: publish the container, and the first event appears here within two seconds.
        </p>
        <Troubles site={site} ingest={ingest} />
        <Rejections site={site} />
      </SetupStep>
    )
  }
  return (
    <SetupStep
      number={4}
      title="Events arrive"
      state="done"
      word={
        <>
          last event <RelativeTime at={last_event_at} zone={site.timezone} />
        </>
      }
    >
      <p>
        {site.name} sends events. See{' '}
        <TextLink to="/sites/$siteId" params={{ siteId: site.id }}>
          what it sends
        </TextLink>
        , or choose{' '}
        <TextLink to="/sites/$siteId/probes" params={{ siteId: site.id }}>
          which probes watch it
        </TextLink>
        .
      </p>
      <Checklist site={site} />
      <Rejections site={site} />
    </SetupStep>
  )
}

const DAY = { hours: 24 }
/** The window for the peak: minutes are kept only for a while, and six hours are enough. */
const BUSY = { hours: 6 }

/** Checks whether the events that arrive are as intended. */
function Checklist({ site }: { site: SiteRecord }) {
  const report = useQuery(siteReportQuery(site.id, DAY, false))
  const minutes = useQuery(timeseriesQuery(site.id, BUSY, { metric: 'events', bucket: '1m' }))
  const recent = useQuery(recentQuery(site.id))
  const usage = useQuery(usageQuery(site.client_id))
  const all = [report, minutes, recent, usage]
  const failed = all.find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error) {
    return <ErrorState error={failed.error} onRetry={() => void Promise.all(all.map(({ refetch }) => refetch()))} />
  }
  if (!report.data || !minutes.data || !recent.data || !usage.data) return <Skeleton height={200} />
  if (!isTagHeard(report.data)) {
    return (
      <p className={classes.muted}>
        Only samples have arrived in the last 24 hours. Once the container is published, a checklist appears here:
        whether the tag excludes itself, whether tags have names, and whether the send mode fits the traffic.
      </p>
    )
  }
  const facts = { report: report.data, minutes: minutes.data, recent: recent.data, usage: usage.data }
  return (
    <section className={classes.block} aria-labelledby="checklist">
      <h3 id="checklist">Is it set up well?</h3>
      <ul className={classes.checks}>
        {checksOf(facts).map(({ id, status, title, text }) => (
          <li key={id} data-status={status}>
            <StatusMark status={status} label={STATUS_WORDS[status]} />
            <div>
              <b>{title}</b>
              <p>{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Refused requests with the reason and what to do. They contain no values, at most a path in the payload. */
function Rejections({ site }: { site: SiteRecord }) {
  const { data } = useQuery(recentQuery(site.id))
  const groups = groupsOf(data?.rejections ?? [])
  if (groups.length === 0) return null
  return (
    <section className={classes.block} aria-labelledby="rejections">
      <h3 id="rejections">Refused requests</h3>
      <p className={classes.muted}>
        From the last 50. Requests without a key that is known belong to no site and are not included.
      </p>
      <ul className={classes.rejections}>
        {groups.map((group) => (
          <Row key={group.key} group={group} zone={site.timezone} />
        ))}
      </ul>
    </section>
  )
}

function Row({ group, zone }: { group: RejectionGroup; zone: string }) {
  const { what, todo } = adviceOf(group)
  return (
    <li>
      <span className={classes.count}>{whole(group.count)}×</span>
      <div>
        <b>{what}</b> {group.path !== '' && <code className={classes.code}>{group.path}</code>}
        <p>{todo}</p>
      </div>
      <span className={classes.when}>
        <RelativeTime at={group.lastAt} zone={zone} />
      </span>
    </li>
  )
}

interface TroublesProps {
  site: SiteRecord
  ingest: IngestAddress
}

/** Poll interval, so that mistakes show soon after they are made, ms. */
const ASK_MS = 5_000

/** Likely reasons why no event has arrived; renders nothing when there are none. */
function Troubles({ site, ingest }: TroublesProps) {
  const now = useNow()
  const recent = useQuery({ ...recentQuery(site.id), refetchInterval: ASK_MS })
  const diagnostics = useQuery({ ...diagnosticsQuery(site.id), refetchInterval: ASK_MS })
  if (!recent.data || !diagnostics.data) return null
  const troubles = troublesOf({
    recent: recent.data,
    diagnostics: diagnostics.data,
    endpointHost: new URL(ingest.endpoint).hostname,
    pageHost: window.location.hostname,
    waitedMs: now - Date.parse(site.created_at),
  })
  if (troubles.length === 0) return null
  return (
    <section className={classes.block} aria-labelledby="troubles">
      <h3 id="troubles">Why nothing may have arrived yet</h3>
      <ul className={classes.checks}>
        {troubles.map((trouble) => (
          <Line key={trouble.id} trouble={trouble} />
        ))}
      </ul>
    </section>
  )
}

function Line({ trouble: { status, title, text } }: { trouble: Trouble }) {
  return (
    <li>
      <StatusMark status={status} label={status === 'warning' ? 'found' : 'possible'} />
      <div>
        <b>{title}</b>
        <p>{text}</p>
      </div>
    </li>
  )
}

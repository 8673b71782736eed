import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import {
  type StatusPage as Page,
  type SharedSite as Site,
  STATUS_PAGE_REFRESH_MS,
  statusPageQuery,
  useSubscribe,
} from '../../api/status.ts'
import { useNow } from '../../lib/external.ts'
import { onset } from '../../lib/onset.ts'
import { counted, duration, relative, unbroken } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_SIGNS, useTab } from '../../ui/status/status.ts'
import { UptimeBar } from '../../ui/uptime/UptimeBar.tsx'
import { daysJudged, uptimePercent } from '../../ui/uptime/words.ts'
import { History, Planned } from './History.tsx'
import { type Freshness, SharedData, Sheet } from './Sheet.tsx'
import { moment, sentence, stateWords } from './sentence.ts'
import classes from './status.module.css'

/** The status of a client and its sites, for anyone with the link. */
export function StatusPage() {
  const { token = '' } = useParams({ strict: false })
  return (
    <SharedData
      title="Status"
      query={useQuery(statusPageQuery(token))}
      draw={(page, freshness) => <Loaded page={page} token={token} {...freshness} />}
    />
  )
}

interface LoadedProps extends Freshness {
  page: Page
  token: string
}

function Loaded({ page, token, readAt, isCutOff }: LoadedProps) {
  const now = useNow()
  const verdict = sentence(page, now)
  useTab(`${STATUS_SIGNS[page.status]} ${page.name}: ${verdict}`, page.status)
  return (
    <Sheet
      title={page.name}
      about="How the server-side tags of its sites are doing"
      accent={page.looks.accent}
      logo={page.looks.logo === null ? null : `/api/status/${token}/logo`}
    >
      <p className={classes.verdict} data-status={page.status}>
        <StatusMark status={page.status} size={22} />
        {verdict}
      </p>
      <h2 className="sr-only">Sites</h2>
      <ul className={classes.sites}>
        {page.sites.map((site, index) => (
          <SharedSite key={siteKey(index)} site={site} now={now} />
        ))}
      </ul>
      <Planned maintenance={page.maintenance} now={now} />
      <History token={token} page={page} now={now} />
      {page.takes_subscribers && <Subscribe token={token} />}
      <p className={classes.note} role="status">
        {isCutOff
          ? `Tagwarden cannot be reached: this is how it was ${relative(readAt, now)}. Trying again.`
          : `As of ${relative(readAt, now)}, refreshed automatically every ${duration(STATUS_PAGE_REFRESH_MS)}. The bars are events an hour over the last day. Times are in ${ownZone()}.`}
      </p>
    </Sheet>
  )
}

/** The answer has no ids. Indexes do as keys, because a line depends only on its site. */
const siteKey = (index: number): string => `site ${index}`

/** A site: its state, a sparkline of its day, and its unresolved alerts. */
function SharedSite({ site, now }: { site: Site; now: number }) {
  return (
    <li className={classes.site}>
      <div className={classes.head}>
        <StatusMark status={site.status} size={14} />
        <h3 className={classes.name}>{site.name}</h3>
        <span className={classes.state} data-status={site.status}>
          {stateWords(site, now)}
        </span>
        <span className={classes.sparkline}>
          <Sparkline values={site.sparkline} label={shapeInWords(site.sparkline)} />
        </span>
        <span className={classes.seen}>
          {site.last_event_at === null ? (
            'no event yet'
          ) : (
            <>
              last event <RelativeTime at={site.last_event_at} />
            </>
          )}
        </span>
      </div>
      {site.days.length > 0 && (
        <div className={classes.days}>
          <UptimeBar days={site.days} firstDay={site.first_day} />
          <span className={classes.seen}>
            {site.uptime === null
              ? '90 days, not judged yet'
              : `${daysJudged(site.days)}: ${uptimePercent(site.uptime)} up`}
          </span>
        </div>
      )}
      {site.alerts.length > 0 && (
        <ul className={classes.alerts} aria-label={`Open problems of ${site.name}`}>
          {site.alerts.map((alert, index) => (
            <Alert key={alertKey(index)} alert={alert} now={now} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** The answer has no ids. Indexes do as keys, because a line depends only on its alert. */
const alertKey = (index: number): string => `alert ${index}`

function Alert({ alert, now }: { alert: Site['alerts'][number]; now: number }) {
  const { title, severity, state } = alert
  const { began, detected } = onset(alert, (at) => moment(at, now))
  const isTaken = state === 'acknowledged'
  return (
    <li>
      <StatusMark status={severity} size={10} label={severity} variant={isTaken ? 'outline' : 'filled'} />
      <span>
        {unbroken(title)}{' '}
        <span className={classes.muted}>
          · {began}
          {detected !== null && ` · ${detected}`}
          {isTaken && ' · someone is on it'}
        </span>
      </span>
    </li>
  )
}

function shapeInWords(values: readonly number[]): string {
  const done = values.slice(0, -1)
  return `Events an hour in the last 24 hours: at most ${counted(Math.max(0, ...done), 'event')}`
}

/** Subscribes to e-mail about incidents and maintenance, which the recipient has to confirm. */
export function Subscribe({ token }: { token: string }) {
  const [email, setEmail] = useState('')
  const subscribe = useSubscribe(token)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    subscribe.mutate(email.trim())
  }
  if (subscribe.isSuccess) {
    return (
      <p className={classes.text} role="status">
        An e-mail to {subscribe.data.email} is on its way: open its link to confirm. An address that is already
        subscribed gets none.
      </p>
    )
  }
  return (
    <form className={classes.subscribe} onSubmit={submit} noValidate>
      <TextInput
        type="email"
        autoComplete="email"
        label="Get incidents and maintenance by e-mail"
        placeholder="you@example.com"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={subscribe.error === null ? undefined : faultOf(subscribe.error)}
      />
      <Button type="submit" variant="default" loading={subscribe.isPending} disabled={email.trim() === ''}>
        Subscribe
      </Button>
    </form>
  )
}

function faultOf(error: Error): string {
  if (!(error instanceof ApiError)) return error.message
  if (error.fault('/email') !== undefined) return 'Enter an e-mail address'
  return error.code === 'rate_limited' ? 'Too many tries from here. Try again in an hour.' : error.message
}

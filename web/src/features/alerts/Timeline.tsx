import {
  Activity,
  ArrowDownRight,
  ArrowUpRight,
  BellOff,
  BellRing,
  CircleAlert,
  CircleCheck,
  CircleDot,
  Expand,
  Hand,
  type LucideIcon,
  MessageSquare,
  Repeat,
  Send,
  Undo2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { AlertDetail } from '../../api/alerts.ts'
import type { DeliveryRecord } from '../../api/channels.ts'
import { useSession } from '../../api/session.ts'
import { useNow } from '../../lib/external.ts'
import { counted, duration, personName } from '../../lib/words.ts'
import { channelName, deliveryStatus, heldUntil } from '../../ui/delivery-words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import classes from './detail.module.css'
import { channelHint, type TimelineLine, timelineOf } from './timeline.ts'
import { clockTime, sentence, timesIn } from './words.ts'

const ICONS: Readonly<Record<TimelineLine['kind'], LucideIcon>> = {
  opened: CircleAlert,
  confirmed: CircleDot,
  escalated: ArrowUpRight,
  eased: ArrowDownRight,
  widened: Expand,
  flapping: Repeat,
  calmed: Activity,
  notified: Send,
  sent: Send,
  suppressed: BellOff,
  unreachable: BellRing,
  silenced: BellOff,
  unsilenced: BellRing,
  unacknowledged: Hand,
  acknowledged: Hand,
  marked: MessageSquare,
  unmarked: Undo2,
  resolved: CircleCheck,
}

/** What a line begins with, where its text does not say it already. */
const HEADS: Readonly<Partial<Record<TimelineLine['kind'], string>>> = {
  opened: 'Opened',
  confirmed: 'Confirmed',
  escalated: 'Became critical',
  eased: 'Became a warning',
  widened: 'Bad on more events',
  flapping: 'Flapping',
  calmed: 'Steady again',
  unsilenced: 'The silence was ended',
  unacknowledged: 'No longer acknowledged',
  acknowledged: 'Acknowledged',
  marked: 'Feedback',
  unmarked: 'Feedback taken back',
  resolved: 'Resolved',
}

/** The alert's timeline, oldest first, with the messages sent and whether they arrived. */
export function Timeline({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  return (
    <TimelineLines
      lines={timelineOf(alert)}
      zone={zone}
      icons={ICONS}
      heads={HEADS}
      toneOf={(kind) => toneOf(kind, alert)}
      drawHead={({ kind, text }, head) =>
        kind === 'unreachable' ? <NoChannelHint text={text} clientId={alert.client_id} /> : head
      }
    />
  )
}

interface LinesProps<K extends string> {
  lines: readonly TimelineLine<K>[]
  zone: string | undefined
  icons: Readonly<Record<K | 'sent', LucideIcon>>
  /** What a line begins with, where its text does not say it already. */
  heads: Readonly<Partial<Record<K | 'sent', string>>>
  /** The status that a line brought about. */
  toneOf: (kind: K | 'sent') => string | undefined
  drawHead?: (line: TimelineLine<K>, head: string) => ReactNode
}

/** The lines of a timeline: what happened, by whom, when, and the messages about it. */
export function TimelineLines<K extends string>({ lines, zone, icons, heads, toneOf, drawHead }: LinesProps<K>) {
  const now = useNow()
  return (
    <ol className={classes.timeline}>
      {lines.map((line) => {
        const { key, kind, at, actor, text, deliveries } = line
        const Icon: LucideIcon = icons[kind]
        const said = sentence(timesIn(text, (moment) => clockTime(moment, zone, now)))
        const head = heads[kind] ?? said
        return (
          <li key={key} data-tone={toneOf(kind)}>
            <Icon size={16} strokeWidth={1.75} aria-hidden />
            <div className={classes.entry}>
              <p>
                <b>{drawHead === undefined ? head : drawHead(line, head)}</b>
                {actor !== null && ` by ${personName(actor)}`}
              </p>
              {said !== head && said !== '' && <p>{said}</p>}
              <p className={classes.muted}>
                {clockTime(Date.parse(at), zone, now)} ·{' '}
                <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
              </p>
              {deliveries.length > 0 && (
                <ul className={classes.deliveries}>
                  {deliveries.map((delivery) => (
                    <DeliveryLine key={delivery.id} delivery={delivery} zone={zone} />
                  ))}
                </ul>
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Says how many lines in the middle of a long timeline are not shown. */
export function LeftOut({ lines }: { lines: number }) {
  return lines === 0 ? null : <p className={classes.muted}>{counted(lines, 'line')} in the middle not shown</p>
}

/** Why no one was notified, with a link to the form of a new channel, or to the test message that turns one on again. */
function NoChannelHint({ text, clientId }: { text: string; clientId: string }) {
  const { mayChange } = useSession()
  const { why, way, isOff } = channelHint(text)
  if (!mayChange) return why.replace(/[:,]$/, '')
  return (
    <>
      {why}{' '}
      <TextLink to="/clients/$clientId" params={{ clientId }} search={(isOff ? {} : { dialog: 'channel' }) as object}>
        {way}
      </TextLink>
    </>
  )
}

/** The status that a line brought about. */
function toneOf(kind: TimelineLine['kind'], { subject, severity, resolution }: AlertDetail): string | undefined {
  switch (kind) {
    case 'opened':
      return subject === 'check' ? 'error' : severity
    case 'escalated':
      return 'critical'
    case 'resolved':
      return resolution === 'gone' ? undefined : 'ok'
    default:
      return undefined
  }
}

/** Whether a message arrived over a channel, and why not. */
function DeliveryLine({ delivery, zone }: { delivery: DeliveryRecord; zone: string | undefined }) {
  const now = useNow()
  const held = heldUntil(delivery, now)
  return (
    <li>
      <StatusMark status={deliveryStatus(delivery)} size={10} />
      <span>
        <b>{channelName(delivery)}</b>{' '}
        {held === null ? outcome(delivery) : heldWords(delivery, clockTime(held, zone, now))}
        {delivery.note !== null && <span className={classes.muted}> ({delivery.note})</span>}
      </span>
    </li>
  )
}

/** Why a message is held: a resolution until it is certain, a warning in case it does not last. */
function heldWords({ kind }: DeliveryRecord, until: string): string {
  if (kind === 'passed') return `is not notified, unless it is bad again by ${until}`
  return kind === 'opened' ? `is notified at ${until}, if it lasts` : `is notified at ${until}`
}

function outcome({ state, created_at, delivered_at, attempts, last_error }: DeliveryRecord): string {
  const why = last_error === null ? '' : `: ${last_error}`
  switch (state) {
    case 'delivered':
      return delivered_at === null
        ? 'delivered'
        : `delivered ${duration(Date.parse(delivered_at) - Date.parse(created_at))} later`
    case 'pending':
      return attempts === 0 ? 'is on its way' : `not yet after ${attempts} ${attempts === 1 ? 'try' : 'tries'}${why}`
    case 'failed':
      return `not delivered${why}`
    case 'cancelled':
      return `cancelled${why}`
  }
}

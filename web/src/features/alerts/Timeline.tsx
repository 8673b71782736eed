import {
  Activity,
  ArrowDownRight,
  ArrowUpRight,
  BellOff,
  BellRing,
  CircleAlert,
  CircleCheck,
  CircleDot,
  Hand,
  type LucideIcon,
  Repeat,
  Send,
} from 'lucide-react'
import type { AlertDetail } from '../../api/alerts.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { DeliveryLine } from './DeliveryLine.tsx'
import classes from './detail.module.css'
import { type TimelineLine, timelineOf } from './timeline.ts'
import { sentence } from './words.ts'

const ICONS: Readonly<Record<TimelineLine['kind'], LucideIcon>> = {
  opened: CircleAlert,
  confirmed: CircleDot,
  escalated: ArrowUpRight,
  eased: ArrowDownRight,
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
  resolved: CircleCheck,
}

/** What a line begins with, where its text does not say it already. */
const HEADS: Readonly<Partial<Record<TimelineLine['kind'], string>>> = {
  opened: 'Opened',
  confirmed: 'Confirmed',
  escalated: 'Became critical',
  eased: 'Became a warning',
  flapping: 'Comes and goes',
  calmed: 'Steady again',
  acknowledged: 'Acknowledged',
  resolved: 'Over',
}

/** The alert's story, oldest first, with what was sent and whether it arrived. */
export function Timeline({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  return (
    <ol className={classes.timeline}>
      {timelineOf(alert).map(({ key, kind, at, actor, text, deliveries }) => {
        const Icon = ICONS[kind]
        const head = HEADS[kind] ?? sentence(text)
        return (
          <li key={key} data-tone={toneOf(kind, alert)}>
            <Icon size={16} strokeWidth={1.75} aria-hidden />
            <div className={classes.entry}>
              <p>
                <b>{head}</b>
                {actor !== null && ` by ${actor}`}
              </p>
              {sentence(text) !== head && <p>{sentence(text)}</p>}
              <p className={classes.muted}>
                <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
              </p>
              {deliveries.length > 0 && (
                <ul className={classes.deliveries}>
                  {deliveries.map((delivery) => (
                    <DeliveryLine key={delivery.id} delivery={delivery} />
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

/** The status that a line brought about. */
function toneOf(kind: TimelineLine['kind'], { subject, severity }: AlertDetail): string | undefined {
  switch (kind) {
    case 'opened':
      return subject === 'check' ? 'error' : severity
    case 'escalated':
      return 'critical'
    case 'resolved':
      return 'ok'
    default:
      return undefined
  }
}

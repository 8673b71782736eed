/**
 * A message to people, before it takes the shape of a chat service or an e-mail. Stored as JSON in the outbox, so it says what was
 * true when it was written, however late it is sent. Times are epoch ms.
 */
export type Message = AlertMessage | TestMessage | DigestMessage | QuotaMessage | OwnFailureMessage | VendorMessage

const ALERT_MESSAGE_KINDS = [
  'opened',
  'explained',
  'escalated',
  'widened',
  'flapping',
  'reminder',
  'acknowledged',
  'unacknowledged',
  'resolved',
] as const
export type AlertMessageKind = (typeof ALERT_MESSAGE_KINDS)[number]

export type Severity = 'warning' | 'critical'

/** Something with a name that the dashboard has a page for. */
export interface Named {
  id: string
  name: string
}

/** A deciding figure in words: `Measured` `31 %`. */
export interface Fact {
  name: string
  value: string
}

/** More facts cannot be read at a glance. */
export const FACTS_MAX = 8

/** The name of the fact that lists further events on which a tag has become bad. */
export const ALSO_ON = 'Now also on'

/** Why an unresolved incident is closed on a channel that pages people until it is notified of the end. */
export const CHANNEL_ENDS = {
  channel_deleted: 'the channel was deleted',
  channel_off: 'the channel was switched off',
  channel_rekeyed: 'the channel got another key',
} as const
export type ChannelEnd = keyof typeof CHANNEL_ENDS

export interface AlertMessage {
  kind: AlertMessageKind
  alert: {
    id: string
    severity: Severity
    state: 'open' | 'acknowledged' | 'resolved'
    /** What is wrong in one line: `Meta CAPI fails on 31 % of purchase events`. */
    title: string
    /** What the last bad result said. */
    message: string
    /** When it began as far as the data show, or else when the alert opened. */
    since: number
    opened_at: number
    resolved_at: number | null
    /** `channel_…`: closed on this channel only; the alert may be unresolved. */
    resolution: 'recovered' | 'gone' | 'manual' | 'probe_removed' | 'replaced' | ChannelEnd | null
    /** Who resolved it by hand. */
    resolved_by: string | null
    /** Who has just acknowledged it or withdrawn that; missing in all other messages. */
    handled_by?: string
    /** How much of its time Tagwarden itself was down, ms; missing below 1 min, and before it is resolved. */
    down_ms?: number
    occurrences: number
  }
  client: Named
  /** `timezone` is the one that its times are shown in. */
  site: Named & { url: string; timezone: string }
  probe: Named & { probe_type: string }
  /** Measured against expected, and which event or tag; at most eight. */
  facts: readonly Fact[]
  /** What changed shortly before: `12 min after web container 41 → 42`. */
  change: string | null
  /** The person on call when it is sent; missing when the client has no on-call plan. */
  on_call?: string
  /** The incident that the alert is part of; missing in messages of earlier versions. */
  incident?: MessageIncident
  /** For an end that came before its opening was sent: that opening, and when it was due (epoch ms). */
  untold?: { opening: AlertMessage; due: number }
  /** Ends that are sent along with it, in the order in which they happened. */
  over?: readonly AlertMessage[]
}

/** Whether a message closes its incident on one channel only, which is gone, off or has another key. */
export const isEndOfChannel = ({ alert: { resolution } }: AlertMessage): boolean => (resolution ?? '') in CHANNEL_ENDS

/** One cause and all the alerts that it explains. */
export interface MessageIncident {
  id: string
  title: string
  /** `server`, `release`, `tag`, … */
  cause: string
  alerts: number
  /** What is new about it: `Cause found: “The tag server does not answer”`. */
  note: string | null
  /** That other sites are affected too, without their names. */
  elsewhere: string | null
  /** The best explanation: `Web container 41 → 42 was published 12 min before it began`; null or missing without one. */
  likely_cause?: string | null
  impact?: MessageImpact | null
}

/** What an incident costs. */
export interface MessageImpact {
  /** `267 of 425 purchases (63 %)` */
  text: string
  /** Whether the incident is over. */
  final: boolean
}

/** Sent by hand to test a channel. */
export interface TestMessage {
  kind: 'test'
  client: Named
  asked_by: string
}

/** Incidents that a digest lists, because Gmail shows 100 kB of an e-mail. The dashboard shows the others. */
export const DIGEST_INCIDENTS = 50

/** A summary of a client's sites over a day or a week. */
export interface DigestMessage {
  kind: 'digest'
  client: Named
  period: 'daily' | 'weekly'
  /** Half-open. */
  from: number
  to: number
  timezone: string
  sites: readonly DigestSite[]
  /** Unresolved ones first, of these the critical ones; at most `DIGEST_INCIDENTS`. */
  incidents: readonly DigestIncident[]
  /** Counts all incidents, listed or not; missing in messages of earlier versions. */
  counts?: { incidents: number; unresolved: number }
  /** How long Tagwarden itself was down in the period, ms; missing in messages of earlier versions. */
  down?: number
  /** How many of the sites have no active probe; missing in messages of earlier versions. */
  unwatched?: number
  /** What else to know in the morning; missing in messages of earlier versions. */
  morning?: DigestMorning
}

/** The figures of the page Today. Times are epoch ms. */
export interface DigestMorning {
  /** Compared with the same day of the week before: `purchase: 640, a week before 1,290 (−50 %, usually ±8 %)`. */
  changes: readonly { site: string; text: string }[]
  /** Hours left out of `changes` because Tagwarden was down; missing in messages of earlier versions. */
  hours_left_out?: number
  /** Published in the period: `web container 41 → 42`. */
  versions: readonly { site: string; text: string; at: number }[]
  /** Set once 80 % of the month's events are used up. */
  quota: { events: number; limit: number } | null
  /** `ends_at` is null when it lasts until what it silences is resolved. */
  muted: readonly { kind: 'silence' | 'maintenance'; of: string; why: string | null; ends_at: number | null }[]
}

export interface DigestSite extends Named {
  events: number
  /** The same for the period before; null when there is none to compare with, or Tagwarden was down or the site paused too long. */
  events_before: number | null
  score: number | null
  score_before: number | null
  /** Tags whose share of successes fell most, the worst first; at most five. */
  worse_tags: readonly { tag_key: string; success_rate: number; success_rate_before: number }[]
}

export interface DigestIncident {
  id: string
  site: string
  severity: Severity
  title: string
  /** What explains it, in a few words: `new version`; null without an explanation. */
  cause: string | null
  began_at: number
  resolved_at: number | null
  /** What it cost, in a few words. */
  impact: string | null
  /** Why no one was notified: `not notified: silenced`; null when someone was. */
  unnotified: string | null
}

/** A client has used a large part of its month's events. */
export interface QuotaMessage {
  kind: 'quota'
  client: Named
  /** The percentage that was reached. */
  step: 80 | 100
  events: number
  limit: number
  /** When it was seen. */
  seen_at: number
  /** When the month ends, and the count restarts. */
  resets_at: number
}

/** Tagwarden itself does not work as it should. */
export interface OwnFailureMessage {
  kind: 'own_failure' | 'own_recovery'
  /** Which part: `deliveries`, `store`, or a loop's name. */
  part: string
  /** The channel that was switched off; missing for other parts. */
  channel?: string
  /** Whose channel it is; missing for other parts, and in messages of earlier versions. */
  client?: Named
  message: string
  since: number
  node: string
}

/** While the clock is in doubt nothing is lost, and where it is right there is nothing to do: no one has to get up for it. */
export const severityOfOwn = ({ part }: OwnFailureMessage): Severity => (part === 'clock' ? 'warning' : 'critical')

/** One vendor fails on sites of many clients, which only the operator may see together. */
export interface VendorMessage {
  kind: 'vendor_opened' | 'vendor_resolved'
  vendor: string
  /** Whether the vendor refuses our own checks. Messages of earlier versions lack it. */
  isOwn?: boolean
  /** Whether the events of whole sites fall, which is ours or the network's. Messages of earlier versions lack it. */
  isFall?: boolean
  incident: {
    id: string
    /** `Meta tags fail on 14 of 20 sites` */
    title: string
    severity: Severity
    started_at: number
    resolved_at: number | null
    /** The sum over all sites. */
    impact?: MessageImpact | null
  }
  /** How many clients the sites are of: several may have one name. Messages of earlier versions lack it. */
  clients?: number
  /** In the order in which they showed it. */
  sites: readonly { client: string; site: string; since: number }[]
}

/** Several alert messages of one kind that are sent as one, in their order. */
export interface MessageGroup {
  kind: 'group'
  of: AlertMessageKind
  /** Null for several clients, whose ends only the operator gets together. */
  client: Named | null
  messages: readonly AlertMessage[]
}

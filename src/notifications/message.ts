/**
 * A message to people, before it takes the shape of a chat service or an e-mail. Kept as JSON in the outbox, so a message
 * says what was true when it was written, however late it is sent. Times are epoch ms.
 */
export type Message = AlertMessage | TestMessage | DigestMessage | QuotaMessage | OwnFailureMessage | VendorMessage

export const ALERT_MESSAGE_KINDS = [
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

/** A figure that decided, as people read it: `Measured` `31 %`. */
export interface Fact {
  name: string
  value: string
}

/** More of them are no figures at a glance. */
export const FACTS_MAX = 8

/** The fact that names the events that a tag has become bad on besides. */
export const ALSO_ON = 'Now also on'

/** Why what lasts is closed on a channel that pages people until they are notified of an end. */
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
    /** Since when it is bad, as far as the data show; the opening of the alert otherwise. */
    since: number
    opened_at: number
    resolved_at: number | null
    /** `channel_…`: it is closed on one channel, and may last. */
    resolution: 'recovered' | 'gone' | 'manual' | 'probe_removed' | 'replaced' | ChannelEnd | null
    /** Who resolved it by hand. */
    resolved_by: string | null
    /** Who has just acknowledged it, or no longer does; missing in all other messages. */
    handled_by?: string
    /** How much of its time Tagwarden itself was down, ms; missing of less than a minute, and of what is not over. */
    down_ms?: number
    occurrences: number
  }
  client: Named
  /** `timezone`: in which people read its times. */
  site: Named & { url: string; timezone: string }
  probe: Named & { probe_type: string }
  /** Measured against expected, and which event or tag; at most eight. */
  facts: readonly Fact[]
  /** What changed shortly before: `opened 12 min after web container 41 → 42`. */
  change: string | null
  /** Who is responsible now; missing where the client says nothing of that. */
  on_call?: string
  /** What the alert is part of; missing in messages of earlier versions. */
  incident?: MessageIncident
  /** Of an end that came before its opening was sent: what was to be said then, and when (epoch ms). */
  untold?: { opening: AlertMessage; due: number }
  /** What has ended meanwhile and goes out with it, in the order in which it did. */
  over?: readonly AlertMessage[]
}

/** One cause and all the alerts that it explains. */
export interface MessageIncident {
  id: string
  title: string
  /** `server`, `release`, `tag`, … */
  cause: string
  alerts: number
  /** What is new about it: `Cause found: “The tag server does not answer”`. */
  note: string | null
  /** That others have it too, without their names. */
  elsewhere: string | null
  /** What explains it best: `Web container 41 → 42 was published 12 min before it began`; null, or missing, where nothing does. */
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

/** Asked for by hand, to see that a channel works. */
export interface TestMessage {
  kind: 'test'
  client: Named
  asked_by: string
}

/** Incidents that a digest lists; a client with more finds them in the dashboard: Gmail shows 100 kB of an e-mail. */
export const DIGEST_INCIDENTS = 50

/** What a client's sites did in a day or a week. */
export interface DigestMessage {
  kind: 'digest'
  client: Named
  period: 'daily' | 'weekly'
  /** Half-open. */
  from: number
  to: number
  timezone: string
  sites: readonly DigestSite[]
  /** Those that last first, at most `DIGEST_INCIDENTS`. */
  incidents: readonly DigestIncident[]
  /** Of all incidents, listed or not; missing of one that an earlier version wrote. */
  counts?: { incidents: number; unresolved: number }
  /** How long Tagwarden itself was down in the period, ms; missing of one that an earlier version wrote. */
  down?: number
  /** How many of the sites have no active probe; missing of one that an earlier version wrote. */
  unwatched?: number
  /** What a morning wants to know besides; missing of one that an earlier version wrote. */
  morning?: DigestMorning
}

/** As the page of the morning says it. Times are epoch ms. */
export interface DigestMorning {
  /** Against the same day of the week before: `purchase: 640, a week before 1,290 (−50 %, usually ±8 %)`. */
  changes: readonly { site: string; text: string }[]
  /** Hours that these leave out, as Tagwarden was down; missing of one that an earlier version wrote. */
  hours_left_out?: number
  /** Published in the period: `web container 41 → 42`. */
  versions: readonly { site: string; text: string; at: number }[]
  /** Where 80 % of the month's events are used up. */
  quota: { events: number; limit: number } | null
  /** Null: until what it silences is resolved. */
  muted: readonly { kind: 'silence' | 'maintenance'; of: string; why: string | null; ends_at: number | null }[]
}

export interface DigestSite extends Named {
  events: number
  /** Of the period before; null when there was none to compare with, or Tagwarden was down too long. */
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
  /** What explains it, in a few words: `new version`; null where nothing does. */
  cause: string | null
  began_at: number
  resolved_at: number | null
  /** What it cost, in a few words. */
  impact: string | null
  /** Why no one was notified: `not notified: silenced`; null where someone was. */
  unnotified: string | null
}

/** A client has used so much of its events of the month. */
export interface QuotaMessage {
  kind: 'quota'
  client: Named
  /** Per cent that are reached. */
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
  /** The channel that was switched off; missing of anything else. */
  channel?: string
  message: string
  since: number
  node: string
}

/** One vendor fails on sites of many clients, which only the operator may read together. */
export interface VendorMessage {
  kind: 'vendor_opened' | 'vendor_resolved'
  vendor: string
  incident: {
    id: string
    /** `Meta tags fail on 14 of 20 sites` */
    title: string
    severity: Severity
    started_at: number
    resolved_at: number | null
    /** Of all sites together. */
    impact?: MessageImpact | null
  }
  /** The first that showed it come first. */
  sites: readonly { client: string; site: string; since: number }[]
}

/** Several alert messages of one kind that go out as one. In their order. */
export interface MessageGroup {
  kind: 'group'
  of: AlertMessageKind
  /** Null of several clients, whose ends only the operator gets together. */
  client: Named | null
  messages: readonly AlertMessage[]
}

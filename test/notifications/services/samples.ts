import { DAY, HOUR, MINUTE } from '../../../src/lib/index.ts'
import type {
  AlertMessage,
  DigestMessage,
  Message,
  MessageGroup,
  QuotaMessage,
  VendorMessage,
} from '../../../src/notifications/message.ts'

/** When the samples are sent: 10:24 in Berlin. */
export const AT = Date.parse('2026-11-20T09:24:00Z')
export const PUBLIC_URL = 'https://tagwarden.acme.example'
/** The chat of the samples' client. */
export const CHANNEL = 'chat:7f3a2f0e-0000-4000-8000-0000000000c1'
export const KEY = '019a9f6c-0000-7000-8000-00000000feed'

export const opened: AlertMessage = {
  kind: 'opened',
  alert: {
    id: '019a9f6c-4a40-7000-8000-0000000000a1',
    severity: 'critical',
    state: 'open',
    title: 'Meta CAPI fails on 31 % of purchase events',
    message: '“Meta CAPI” failed: 398 of 1,284 executions (31 %), last 30 min',
    since: AT - 42 * MINUTE,
    opened_at: AT - 30 * MINUTE,
    resolved_at: null,
    resolution: null,
    resolved_by: null,
    occurrences: 3,
  },
  client: { id: '7f3a2f0e-0000-4000-8000-0000000000c1', name: 'ACME' },
  site: {
    id: '7f3a2f0e-0000-4000-8000-0000000000d1',
    name: 'shop.acme.com',
    url: 'https://shop.acme.com',
    timezone: 'Europe/Berlin',
  },
  probe: { id: '7f3a2f0e-0000-4000-8000-0000000000e1', name: 'Tag failures', probe_type: 'tag_failure_rate' },
  facts: [
    { name: 'Tag', value: 'Meta CAPI' },
    { name: 'Event', value: 'add_to_cart' },
    { name: 'Measured', value: '31 %' },
    { name: 'Expected', value: 'at most 10 % (usually 0.4 %)' },
  ],
  change: '12 min after web container 41 → 42',
}

const withAlert = (message: AlertMessage, alert: Partial<AlertMessage['alert']>): AlertMessage => ({
  ...message,
  alert: { ...message.alert, ...alert },
})

export const resolved: AlertMessage = {
  ...withAlert(opened, { state: 'resolved', resolved_at: AT, resolution: 'recovered', occurrences: 9 }),
  kind: 'resolved',
}

const another = (
  id: number,
  site: string,
  probe: string,
  alert: Partial<AlertMessage['alert']>,
  kind: 'opened' | 'resolved' = 'opened',
): AlertMessage => ({
  ...withAlert(kind === 'opened' ? opened : resolved, { id: `019a9f6c-4a40-7000-8000-0000000001${id}`, ...alert }),
  site: { ...opened.site, id: `7f3a2f0e-0000-4000-8000-0000000002${id}`, name: site, url: `https://${site}` },
  probe: { ...opened.probe, id: `7f3a2f0e-0000-4000-8000-0000000003${id}`, name: probe },
  change: null,
})

const group: MessageGroup = {
  kind: 'group',
  of: 'opened',
  client: opened.client,
  messages: [
    another(11, 'blog.acme.com', 'Tag latency', {
      severity: 'warning',
      title: '“GA4” takes 2.4 s (95th percentile); usually 310 ms at this hour',
    }),
    opened,
    another(12, 'outlet.acme.com', 'Tag server health', {
      title: 'The tag server does not answer: connecting to sgtm.outlet.acme.com took longer than 10 s',
      since: AT - 50 * MINUTE,
    }),
    ...Array.from({ length: 9 }, (_, n) =>
      another(20 + n, `store-${n + 1}.acme.com`, 'Data volume', {
        severity: 'warning',
        title: `purchase: ${n + 3} events in 30 min; about 240 are usual at this hour`,
        since: AT - (12 - n) * MINUTE,
      }),
    ),
  ],
}

const groupResolved: MessageGroup = {
  ...group,
  of: 'resolved',
  messages: ['blog.acme.com', 'shop.acme.com', 'outlet.acme.com'].map((site, n) =>
    another(40 + n, site, 'Tag server health', { since: AT - (20 + n) * MINUTE }, 'resolved'),
  ),
}

export const digest: DigestMessage = {
  kind: 'digest',
  client: opened.client,
  period: 'weekly',
  from: Date.parse('2026-11-08T23:00:00Z'),
  to: Date.parse('2026-11-15T23:00:00Z'),
  timezone: 'Europe/Berlin',
  sites: [
    {
      id: opened.site.id,
      name: 'shop.acme.com',
      events: 1_284_220,
      events_before: 1_146_003,
      score: 71.2,
      score_before: 82.4,
      worse_tags: [
        { tag_key: 'Meta CAPI', success_rate: 0.69, success_rate_before: 0.996 },
        { tag_key: 'TikTok Events API', success_rate: 0.91, success_rate_before: 0.973 },
      ],
    },
    {
      id: '7f3a2f0e-0000-4000-8000-0000000000d2',
      name: 'blog.acme.com',
      events: 48_112,
      events_before: 52_300,
      score: 93,
      score_before: 93,
      worse_tags: [],
    },
    {
      id: '7f3a2f0e-0000-4000-8000-0000000000d3',
      name: 'outlet.acme.com',
      events: 0,
      events_before: null,
      score: null,
      score_before: null,
      worse_tags: [],
    },
  ],
  down: 250 * MINUTE,
  unwatched: 1,
  incidents: [
    {
      id: '019a9f6c-4a40-7000-8000-0000000000b0',
      site: 'shop.acme.com',
      severity: 'critical',
      title: 'Meta CAPI fails on 31 % of purchase events',
      cause: 'new version',
      began_at: Date.parse('2026-11-12T08:42:00Z'),
      resolved_at: null,
      impact: 'about 267 of 425 purchases (63 %)',
      unnotified: null,
    },
    {
      id: '019a9f6c-4a40-7000-8000-0000000000b2',
      site: 'outlet.acme.com',
      severity: 'warning',
      title: 'The certificate of sgtm.outlet.acme.com is valid for 20 more days',
      cause: 'tag server',
      began_at: Date.parse('2026-11-10T02:11:00Z'),
      resolved_at: Date.parse('2026-11-10T09:30:00Z'),
      impact: null,
      unnotified: 'not notified: silenced',
    },
  ],
  morning: {
    changes: [
      { site: 'shop.acme.com', text: 'purchase: 640, a week before 1,290 (−50 %, usually ±8 %)' },
      {
        site: 'shop.acme.com',
        text: 'Meta CAPI fails: 31 % of 1,284 runs, a week before 0.4 % (usually ±1.2 points)',
      },
    ],
    hours_left_out: 5,
    versions: [{ site: 'shop.acme.com', text: 'web container 41 → 42', at: Date.parse('2026-11-12T08:26:00Z') }],
    quota: { events: 83_996, limit: 100_000 },
    muted: [
      { kind: 'silence', of: 'outlet.acme.com', why: 'Moving the server', ends_at: Date.parse('2026-11-16T11:00Z') },
      { kind: 'silence', of: 'an incident: Nothing arrives', why: null, ends_at: null },
    ],
  },
}

export const quota: QuotaMessage = {
  kind: 'quota',
  client: opened.client,
  step: 80,
  events: 83_996,
  limit: 100_000,
  seen_at: AT,
  resets_at: Date.parse('2026-12-01T00:00:00Z'),
}

const vendorOpened: VendorMessage = {
  kind: 'vendor_opened',
  vendor: 'Meta',
  incident: {
    id: '019a9f6c-4a40-7000-8000-0000000000b1',
    title: 'Meta tags fail on 3 of 20 sites',
    severity: 'critical',
    started_at: AT - 42 * MINUTE,
    resolved_at: null,
  },
  sites: [
    { client: 'ACME', site: 'shop.acme.com', since: AT - 42 * MINUTE },
    { client: 'ACME', site: 'outlet.acme.com', since: AT - 40 * MINUTE },
    { client: 'Globex', site: 'www.globex.com', since: AT - 38 * MINUTE },
  ],
}

/** Someone takes care of it, or no longer does. */
const handled = (kind: 'acknowledged' | 'unacknowledged', note: string): AlertMessage => ({
  ...withAlert(opened, { state: kind === 'acknowledged' ? kind : 'open', handled_by: 'anna' }),
  kind,
  incident: {
    id: '019a9f6c-4a40-7000-8000-0000000000b0',
    title: opened.alert.title,
    cause: 'tag',
    alerts: 1,
    note,
    elsewhere: null,
  },
})

/** One of each kind, and of each way to end. */
export const SAMPLES: Readonly<Record<string, Message | MessageGroup>> = {
  opened,
  explained: {
    ...opened,
    kind: 'explained',
    incident: {
      id: '019a9f6c-4a40-7000-8000-0000000000b0',
      title: 'The tag server does not answer',
      cause: 'server',
      alerts: 3,
      note: 'Cause found: “The tag server does not answer”',
      elsewhere: 'Other sites are affected too: probably Meta, not your release',
    },
  },
  escalated: { ...opened, kind: 'escalated' },
  costly: {
    ...opened,
    kind: 'reminder',
    incident: {
      id: '019a9f6c-4a40-7000-8000-0000000000b0',
      title: opened.alert.title,
      cause: 'release',
      alerts: 2,
      note: null,
      elsewhere: null,
      likely_cause: 'Web container 41 → 42 was published 12 min before it began',
      impact: { text: 'about 267 of 425 purchases (63 %; between 240 and 310)', final: false },
    },
  },
  widened: { ...opened, kind: 'widened', facts: [{ name: 'Now also on', value: '“purchase”' }, ...opened.facts] },
  flapping: { ...withAlert(opened, { severity: 'warning' }), kind: 'flapping', change: null },
  reminder: {
    ...withAlert(opened, { since: AT - 3 * DAY, occurrences: 864 }),
    kind: 'reminder',
    change: null,
    on_call: 'Grace',
  },
  acknowledged: handled('acknowledged', 'Acknowledged by anna: looking at it'),
  unacknowledged: handled('unacknowledged', 'No longer acknowledged by anna'),
  resolved,
  resolved_by_hand: withAlert(resolved, { resolution: 'manual', resolved_by: 'anna', since: AT - 26 * HOUR }),
  resolved_gone: withAlert(resolved, { resolution: 'gone', since: AT - 3 * DAY }),
  resolved_probe_removed: withAlert(resolved, { resolution: 'probe_removed' }),
  resolved_untold: { ...withAlert(resolved, { severity: 'warning' }), untold: { opening: opened, due: AT } },
  opened_with_ends: { ...opened, over: groupResolved.messages },
  group,
  group_resolved: groupResolved,
  group_of_clients: { ...groupResolved, client: null },
  test: { kind: 'test', client: opened.client, asked_by: 'anna' },
  quota_near: quota,
  quota_used_up: { ...quota, step: 100, events: 100_000 },
  own_failure: {
    kind: 'own_failure',
    part: 'deliveries',
    message: '14 messages wait for hooks.slack.com, which answers 503',
    since: AT - 16 * MINUTE,
    node: 'tagwarden-1',
  },
  channel_off: {
    kind: 'own_failure',
    part: 'deliveries',
    channel: 'own:7f3a2f0e-0000-4000-8000-0000000000c1:7f3a2f0e-0000-4000-8000-0000000000c2',
    client: opened.client,
    message:
      '“Night shift” of ACME is off: Slack answered 404 (no_service): check the address. Nothing is sent there until the address is edited',
    since: AT - 2 * MINUTE,
    node: 'tagwarden-1',
  },
  own_recovery: {
    kind: 'own_recovery',
    part: 'deliveries',
    message: '14 messages wait for hooks.slack.com, which answers 503',
    since: AT - 25 * MINUTE,
    node: 'tagwarden-1',
  },
  vendor_opened: vendorOpened,
  vendor_resolved: {
    ...vendorOpened,
    kind: 'vendor_resolved',
    incident: {
      ...vendorOpened.incident,
      resolved_at: AT,
      impact: { text: '1,204 of 3,310 tag executions on purchases (36 %)', final: true },
    },
  },
  digest,
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Before, decide, type Fault, HOURS, type Known } from './grouping-support.ts'

const server = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'http_health', at, ...over })
const hosting = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'tag_server_infra', at, ...over })
const silent = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'data_freshness', at, ...over })
const low = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'data_volume', at, ...over })
const gone = (event_name: string, at: number, over: Partial<Fault> = {}): Fault => low(at, { event_name, ...over })
const consent = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'cmp_check', at, ...over })
const failing = (tag_key: string, at: number, over: Partial<Fault> = {}): Fault => ({
  type: 'tag_failure_rate',
  at,
  tag_key,
  ...over,
})
const missing = (tag_key: string, at: number, over: Partial<Fault> = {}): Fault => ({
  type: 'tag_missing',
  at,
  tag_key,
  ...over,
})
const slow = (tag_key: string, at: number): Fault => ({ type: 'tag_latency', at, tag_key, warning: true })
const field = (name: string, at: number): Fault => ({ type: 'user_data_quality', at, field: name, warning: true })
const lost = (name: string, event_name: string, at: number): Fault => ({
  type: 'ecommerce_quality',
  at,
  field: name,
  event_name,
  warning: true,
})
const version = (at: number): Fault => ({ type: 'tag_manager_version', probe: `version ${at}`, at })
const job = (probe: string, at: number): Fault => ({ type: 'push', probe, at })
const check = (type: string, at: number, over: Partial<Fault> = {}): Fault => ({
  ...{ type, at, check: true, warning: true },
  ...over,
})

type Situation = readonly [what: string, before: readonly Before[], fault: Fault, expected: string, known?: Known]
const one = (...faults: Fault[]): Before[] => [{ faults }]
const NONE: readonly Before[] = []
const budget = (at: number, over: Partial<Fault> = {}): Fault => ({ type: 'error_budget', at, ...over })
const TAGS = ['Meta', 'GA4', 'TikTok', 'Criteo', 'Awin']

const SITUATIONS: readonly Situation[] = [
  // Alone.
  ['the first fault of a site', NONE, failing('Meta', 0), 'open tag'],
  ['a server that does not answer', NONE, server(0), 'open server'],
  ['a site that sends nothing', NONE, silent(0), 'open silence'],
  ['an event that is gone', NONE, gone('purchase', 0), 'open event'],
  ['a check that cannot be made', NONE, check('warehouse_events', 0), 'open own'],
  ['a server that is down while its hosting cannot be asked', one(check('tag_server_infra', 0)), server(10), 'join 1'],
  [
    'a tag that fails while the hosting cannot be asked',
    one(check('tag_server_infra', 0)),
    failing('Meta', 10),
    'open tag',
  ],
  ['a consent banner that is gone', NONE, consent(0), 'open consent'],
  ['a budget that burns while nothing is open', NONE, budget(0), 'open other'],
  ['a budget that burns fast while the server is down', one(server(0)), budget(10), 'join 1'],
  ['a budget that burns fast while a tag fails', one(failing('Meta', 0)), budget(10), 'join 1'],
  [
    'a budget that burns fast while one tag fails and another works again',
    [{ faults: [failing('Meta', 0, { ended: 5 }), failing('GA4', 0)] }],
    budget(10),
    'join 1',
  ],
  [
    'a budget that burns slowly while a tag fails',
    one(failing('Meta', 0)),
    budget(400, { warning: true }),
    'open other',
  ],
  ['a budget that burns while a tag only warns', one(failing('Meta', 0, { warning: true })), budget(10), 'open other'],
  [
    'a budget that burns fast while only a check of ours fails',
    one({ type: 'cmp_check', at: -300, check: true }),
    budget(10),
    'open other',
  ],
  ['a slow tag', NONE, slow('Meta', 0), 'open quality'],

  // The server explains.
  ['the hosting reports what the health check saw', one(server(0)), hosting(10), 'join 1'],
  ['the health check sees what the hosting reported', one(hosting(0)), server(4), 'join 1'],
  ['the hosting joins in an hour into a hard outage', one(server(0)), hosting(60), 'join 1'],
  [
    'a certificate that runs out for days, and a server that fails later',
    one(server(0, { warning: true })),
    hosting(2 * HOURS),
    'open server',
  ],
  ['no data while the server does not answer', one(server(0)), silent(3), 'join 1'],
  ['data stop some minutes before the health check sees why', one(server(0)), silent(-9), 'join 1'],
  ['data stopped long before the server failed', one(server(0)), silent(-40), 'open silence'],
  ['the hour that data are too few in began before the server failed in it', one(server(0)), low(-45), 'join 1'],
  ['the hour before that did not', one(server(0)), low(-90), 'open silence'],
  ['a tag fails while the server does not answer', one(server(0)), failing('Meta', 20), 'join 1'],
  ['a rare tag is found missing hours into the outage', one(server(0)), missing('Awin', 4 * HOURS), 'join 1'],
  ['a health check that has been wrong for three days', one(server(0)), failing('Meta', 72 * HOURS), 'open tag'],
  ['latency rises in an outage', one(server(0)), slow('GA4', 5), 'join 1'],
  [
    'a tag fails two days into a certificate warning',
    one(server(0, { warning: true })),
    failing('Meta', 48 * HOURS),
    'open tag',
  ],
  ['a tag fails as a certificate warning begins', one(server(0, { warning: true })), failing('Meta', 10), 'join 1'],
  [
    'a symptom of an outage that ended a moment ago',
    [{ faults: [server(0)], ended: 30 }],
    low(10),
    'join 1',
    { now: 40 },
  ],
  [
    'the aftermath of an outage that ended a moment ago',
    [{ faults: [server(0)], ended: 30 }],
    failing('Meta', 38),
    'join 1',
    { now: 42 },
  ],
  [
    'a symptom of an outage that is found an hour after its end',
    [{ faults: [server(0)], ended: 30 }],
    low(10),
    'open silence',
    { now: 95 },
  ],
  [
    'a fault that began after the aftermath',
    [{ faults: [server(0)], ended: 30 }],
    failing('Meta', 50),
    'open tag',
    { now: 44 },
  ],
  ['a server that fails again', [{ faults: [server(0)], ended: 30 }], server(40), 'again 1', { now: 41 }],
  ['a server that fails again hours later', [{ faults: [server(0)], ended: 30 }], server(5 * HOURS), 'open server'],
  [
    'a server that fails again after someone ended it by hand',
    [{ faults: [server(0, { byHand: true })], ended: 30 }],
    server(40),
    'open server',
    { now: 41 },
  ],
  [
    'the hosting reports what the health check had seen an hour ago',
    [{ faults: [server(0)], ended: 30 }],
    hosting(90),
    'open server',
    { now: 91 },
  ],
  [
    'a server that resolved within an incident that lasts',
    one(server(0, { ended: 20 }), silent(2)),
    failing('Meta', 60),
    'join 1',
  ],

  // A cause that comes late.
  ['the server is found after the silence that it caused', one(silent(-3)), server(0), 'promote 1 server'],
  ['the server is found after a tag that it made fail', one(failing('Meta', 2)), server(0), 'promote 1 server'],
  [
    'the server explains two incidents at once',
    [{ faults: [failing('Meta', 2)] }, { faults: [failing('GA4', 4)] }],
    server(0),
    'promote 1+2 server',
  ],
  [
    'of several symptoms the one that people know of stays',
    [{ faults: [failing('Meta', 2)], told: false }, { faults: [failing('GA4', 4)] }],
    server(0),
    'promote 2+1 server',
  ],
  ['the server explains nothing that is hours older', one(failing('Meta', -3 * HOURS)), server(0), 'open server'],
  [
    'the server explains the one of two that fits',
    [{ faults: [failing('Meta', -3 * HOURS)] }, { faults: [silent(1)] }],
    server(0),
    'promote 2 server',
  ],
  ['silence is found after the event that went with it', one(gone('purchase', 0)), silent(0), 'promote 1 silence'],
  [
    'an event is found gone after its tag was missing',
    one(missing('Meta', 5, { events: ['purchase'] })),
    gone('purchase', 0),
    'promote 1 event',
  ],
  ['a failing tag is found after it was slow', one(slow('Meta', 0)), failing('Meta', 5), 'promote 1 tag'],
  ['our own connection is found after the server that it hid', one(server(0)), check('cmp_check', 2), 'promote 1 own'],

  // Our own connection or check.
  ['two checks that cannot be made at once', one(check('http_health', 0)), check('cmp_check', 8), 'join 1'],
  [
    'two checks whose service account Google refuses, hours apart',
    one(check('tag_manager_version', 0, { reason: 'refused' })),
    check('warehouse_events', 5 * HOURS, { reason: 'refused' }),
    'join 1',
  ],
  [
    'one whose service account Google refuses after another is accepted again',
    one(check('tag_manager_version', 0, { reason: 'refused', ended: 60 }), check('http_health', 0)),
    check('warehouse_events', 5 * HOURS, { reason: 'refused' }),
    'open own',
  ],
  [
    'two checks that may each not read something else',
    one(check('tag_manager_version', 0, { reason: 'forbidden' })),
    check('warehouse_events', 5 * HOURS, { reason: 'forbidden' }),
    'open own',
  ],
  [
    'two checks that cannot be made, hours apart',
    one(check('http_health', 0)),
    check('cmp_check', 5 * HOURS),
    'open own',
  ],
  ['a server that fails as our checks do', one(check('cmp_check', 0)), server(5), 'join 1'],
  [
    'credentials that are wrong for days explain nothing later',
    one(check('warehouse_events', 0, { reason: 'refused' })),
    failing('Meta', 26 * HOURS),
    'open tag',
  ],

  // Consent.
  ['tags stop with the banner', one(consent(0)), missing('Meta', 6), 'join 1'],
  ['data fall with the banner', one(consent(0)), low(-20), 'join 1'],
  [
    'a mild fault of the banner explains nothing the day after',
    one(consent(0, { warning: true })),
    failing('Meta', 24 * HOURS),
    'open tag',
  ],
  [
    'a banner that is gone, and consent signals that fail 15 minutes later',
    one(consent(0)),
    { type: 'consent_signals', at: 15 },
    'join 1',
  ],
  ['a tag that fails hours after the banner', one(consent(0)), failing('Meta', 5 * HOURS), 'open tag'],
  ['the server is no symptom of the banner', one(consent(0)), server(5), 'promote 1 server'],

  // Silence and events.
  ['freshness and volume of one silence', one(silent(0)), low(-30), 'join 1'],
  ['an event is gone in a silence', one(silent(0)), gone('purchase', 10), 'join 1'],
  ['a tag is missing in a silence', one(silent(0)), missing('GA4', 15), 'join 1'],
  ['an event is too low as all is', one(low(0)), gone('purchase', 10), 'join 1'],
  ['an event stops while the server does not answer', one(server(0)), gone('purchase', 5, { none: true }), 'join 1'],
  [
    'a tag is missing on events that are not known as one is gone',
    one(gone('purchase', 0)),
    missing('Meta', 5),
    'open tag',
  ],
  [
    'too little came for hours and was found before the server failed',
    one(server(0)),
    low(-200, { found: -1 }),
    'open silence',
  ],
  [
    'an event stops, and another is too low in the hour before',
    one({ type: 'data_freshness', event_name: 'purchase', at: 60 }),
    gone('add_to_cart', 0),
    'join 1',
  ],
  ['two events stop together', one(gone('purchase', 0)), gone('add_to_cart', 20), 'join 1'],
  ['two events stop half a day apart', one(gone('purchase', 0)), gone('add_to_cart', 12 * HOURS), 'open event'],
  [
    'the tag of an event that is gone',
    one(gone('purchase', 0)),
    missing('Meta', 20, { events: ['purchase'] }),
    'join 1',
  ],
  [
    'a tag that is also missing on an event that is there',
    one(gone('purchase', 0)),
    missing('Meta', 20, { events: ['purchase', 'lead'] }),
    'open tag',
  ],
  [
    'a tag that fails on another event',
    one(gone('purchase', 0)),
    failing('Meta', 5, { event_name: 'lead' }),
    'open tag',
  ],
  ['too many events are no symptom of an outage', one(server(0)), gone('purchase', 5, { surge: true }), 'open event'],
  [
    'too many events are no reason that their tag is missing',
    one(gone('purchase', 0, { surge: true })),
    missing('Meta', 5, { events: ['purchase'] }),
    'open tag',
  ],
  ['too many events explain no silence', one(gone('purchase', 0, { surge: true })), gone('lead', 0), 'open event'],
  [
    'two events that come twice at once',
    one(gone('purchase', 0, { surge: true })),
    gone('lead', 5, { surge: true }),
    'join 1',
  ],

  // Releases.
  ['a fault within two hours after a release', NONE, failing('Meta', 100), 'open release', { releases: [0] }],
  ['a tag that fails hours after a version that is wrong', one(version(0)), failing('Meta', 180), 'open tag'],
  ['another version that is wrong, hours later', one(version(0)), version(5 * HOURS), 'open release'],
  ['a fault three hours after a release', NONE, failing('Meta', 180), 'open tag', { releases: [0] }],
  [
    'a release that is seen a moment after what it broke',
    NONE,
    failing('Meta', -12),
    'open release',
    { releases: [0] },
  ],
  ['a release after the fault', NONE, failing('Meta', -40), 'open tag', { releases: [0] }],
  [
    'a second tag after the same release',
    [{ faults: [failing('Meta', 5)], release: 0 }],
    missing('GA4', 50),
    'join 1',
    { releases: [0] },
  ],
  [
    'an event that comes twice after the same release',
    [{ faults: [failing('Meta', 5)], release: 0 }],
    gone('purchase', 30, { surge: true }),
    'join 1',
    { releases: [0] },
  ],
  [
    'a second tag after it, when what it broke works again',
    [{ faults: [failing('Meta', 5)], release: 0, ended: 40 }],
    missing('GA4', 50),
    'open release',
    { releases: [0] },
  ],
  [
    'a tag that had failed for hours when the release came, and one that fails after it',
    one(failing('Awin', -300)),
    failing('Meta', 30),
    'open release',
    { releases: [0] },
  ],
  [
    'a budget that burns after a release, and a tag that fails after it',
    one(budget(10)),
    failing('Meta', 30),
    'open release',
    { releases: [0] },
  ],
  [
    'a tag that fails again hours after a release that is blamed for its first fault',
    [{ faults: [failing('Meta', 5)], release: 0, ended: 30 }],
    failing('Meta', 9 * HOURS),
    'open tag',
    { releases: [0] },
  ],
  [
    'a tag half a day after it',
    [{ faults: [failing('Meta', 5)], release: 0 }],
    missing('GA4', 12 * HOURS),
    'open tag',
    { releases: [0] },
  ],
  [
    'a tag is missing after a release, and another failed long before it',
    one(failing('Awin', -300)),
    missing('GA4', 30),
    'open release',
    { releases: [0] },
  ],
  [
    'a release that is known only now',
    one(failing('Meta', 5)),
    missing('GA4', 30),
    'promote 1 release',
    { releases: [0] },
  ],
  ['a release is not to blame for the server', NONE, server(10), 'open server', { releases: [0] }],
  [
    'the server is stronger than the release',
    [{ faults: [server(10)] }],
    failing('Meta', 12),
    'join 1',
    { releases: [0] },
  ],

  [
    'a tag of rare events, last seen to run hours before the release and missed hours after it',
    [{ faults: [missing('Meta', 5)], release: 0 }],
    missing('Awin', -210, { found: 330 }),
    'join 1',
    { releases: [0] },
  ],
  [
    'the same, found missing before the release',
    [{ faults: [missing('Meta', 5)], release: 0 }],
    missing('Awin', -210, { found: -60 }),
    'open tag',
    { releases: [0] },
  ],
  [
    'a tag that was last seen to run half a day before the release',
    [{ faults: [missing('Meta', 5)], release: 0 }],
    missing('Awin', -720, { found: 330 }),
    'open tag',
    { releases: [0] },
  ],
  [
    'a tag that fails, dated as roughly',
    [{ faults: [missing('Meta', 5)], release: 0 }],
    failing('Awin', -210, { found: 330 }),
    'open tag',
    { releases: [0] },
  ],

  // Tags.
  ['two vendors fail together without a reason', one(failing('Meta', 0)), failing('GA4', 5), 'open tag'],
  [
    'one vendor on two events',
    one(failing('Meta', 0, { event_name: 'purchase' })),
    failing('Meta', 8, { event_name: 'lead' }),
    'join 1',
  ],
  ['two tags of one vendor', one(failing('Meta CAPI', 0)), failing('fb lead', 9), 'join 1'],
  ['two tags of one vendor, hours apart', one(failing('Meta CAPI', 0)), failing('fb lead', 4 * HOURS), 'open tag'],
  ['a tag fails and another is slow, hours apart', one(failing('Meta', 0)), slow('GA4', 3 * HOURS), 'open quality'],
  ['a tag fails and is slow', one(failing('Meta', 0)), slow('Meta', 12), 'join 1'],
  ['a tag fails, and another vendor is slow at once', one(failing('Meta', 0)), slow('GA4', 2), 'open quality'],
  ['a tag fails and is missing', one(failing('Meta', 0)), missing('Meta', 14), 'join 1'],
  ['two webhooks lead to two places', one(failing('Webhook A', 0)), failing('Webhook B', 3), 'open tag'],
  [
    'four of five tags are missing, the first since hours before',
    [{ faults: [missing('Meta', -4 * HOURS)] }, { faults: [missing('GA4', 3), missing('TikTok', 5)] }],
    missing('Criteo', 5),
    'join 2',
    { tags: TAGS },
  ],
  [
    'three of five tags are missing, and one is back',
    [{ faults: [missing('Meta', 0), missing('TikTok', 0, { ended: 4 })] }, { faults: [missing('GA4', 3)] }],
    missing('Criteo', 5),
    'join 1',
    { tags: TAGS },
  ],
  [
    'a third of five tags that are missing at once',
    [{ faults: [missing('Meta', 0)] }, { faults: [missing('GA4', 3)] }],
    missing('TikTok', 5),
    'join 1',
    { tags: TAGS },
  ],
  [
    'four of five tags that are missing at once',
    [
      { faults: [missing('Meta', 0)] },
      { faults: [missing('GA4', 3)] },
      { faults: [missing('TikTok', 5)], told: false },
    ],
    missing('Criteo', 5),
    'promote 1+2+3 release',
    { tags: TAGS },
  ],
  [
    'both of two tags are missing at once',
    [{ faults: [missing('Meta', 0)] }],
    missing('GA4', 3),
    'join 1',
    { tags: ['Meta', 'GA4'] },
  ],

  [
    'a fourth tag is missing at once, of a site whose tags are not known',
    [{ faults: [missing('Meta', 0)] }, { faults: [missing('GA4', 3)] }, { faults: [missing('TikTok', 5)] }],
    missing('Criteo', 5),
    'join 1',
  ],
  ['two tags are missing half an hour apart', one(missing('Meta', 5)), missing('GA4', 35), 'open tag'],
  ['a tag of rare events is missing since a whole hour', one(missing('Meta', 48)), missing('Awin', 0), 'join 1'],
  [
    'a tag is missing since a whole hour, and another for an hour before',
    one(missing('Meta', -69)),
    missing('GA4', 0),
    'open tag',
  ],
  ['a tag of rare events is missing since two hours before', one(missing('Meta', 125)), missing('Awin', 0), 'open tag'],
  ['two tags of different vendors are slow at once', one(slow('Meta', 0)), slow('GA4', 4), 'join 1'],
  ['two tags of different vendors are slow, hours apart', one(slow('Meta', 0)), slow('GA4', 200), 'open quality'],
  ['a tag is missing, and another fails at once', one(missing('Meta', 0)), failing('GA4', 2), 'open tag'],
  ['a tag that fails is slow half a day later', one(failing('Meta', 0)), slow('Meta', 12 * HOURS), 'open quality'],

  // What is bad again.
  [
    'a tag that fails again, as its share swings around the limit',
    [{ faults: [failing('Meta', 0)], ended: 60 }],
    failing('Meta', 130),
    'again 1',
  ],
  [
    'a tag that fails again while its incident lasts for another',
    one(failing('Meta', 0, { ended: 30 }), missing('Meta', 4)),
    failing('Meta', 80),
    'join 1',
  ],
  [
    'another tag of the vendor that failed until a moment ago',
    [{ faults: [failing('Meta CAPI', 0)], ended: 60 }],
    failing('fb lead', 70),
    'open tag',
    { now: 72 },
  ],
  [
    'an event that is too low again in the outage of its server',
    [{ faults: [gone('purchase', 0)], ended: 40 }, { faults: [server(60)] }],
    gone('purchase', 62),
    'join 2',
  ],
  [
    'what is bad again explains what had opened meanwhile no more than before',
    [{ faults: [failing('Meta', 0)], ended: 60 }, { faults: [slow('Meta', 70)] }],
    failing('Meta', 75),
    'again 1',
  ],
  ['a job that fails again', [{ faults: [job('Export', 0)], ended: 60 }], job('Export', 75), 'again 1'],
  [
    'a job that fails soon after another one did',
    [{ faults: [job('Export', 0)], ended: 60 }],
    job('Backup', 75),
    'open other',
  ],
  [
    'of two incidents it was in the later is back',
    [
      { faults: [failing('Meta', -300)], ended: -180 },
      { faults: [failing('Meta', -60)], ended: -10 },
    ],
    failing('Meta', 20),
    'again 2',
  ],

  [
    'a volume that is too low again by its own account since before its end, half a day later',
    [{ faults: [low(0)], ended: 60 }],
    low(30, { found: 15 * HOURS }),
    'again 1',
  ],
  ['the same, two days later', [{ faults: [low(0)], ended: 60 }], low(30, { found: 50 * HOURS }), 'open silence'],
  [
    'a volume that a new version was blamed for, too low again since before its end',
    [{ faults: [low(10)], release: 0, ended: 60 }],
    low(30, { found: 7 * HOURS }),
    'again 1',
  ],
  [
    'a volume that a new version was blamed for, too low again since hours after its end',
    [{ faults: [low(10)], release: 0, ended: 60 }],
    low(6 * HOURS, { found: 7 * HOURS }),
    'open silence',
  ],
  [
    'a volume that is low since hours before a certificate began to warn',
    one(server(200, { warning: true })),
    low(0, { found: 210 }),
    'open silence',
  ],
  [
    'nothing comes any more on a site of which too little came for hours',
    one(low(0, { warning: true, found: 60 })),
    silent(20 * HOURS),
    'join 1',
  ],
  [
    'nothing comes any more, days after too little began to come',
    one(low(0, { warning: true, found: 60 })),
    silent(50 * HOURS),
    'open silence',
  ],
  [
    'a rare tag shows hours later that the server is slow',
    one(server(0, { warning: true }), slow('Meta', 3)),
    slow('Awin', 125),
    'join 1',
  ],
  [
    'a tag is slow hours after a server that warns of something else',
    one(server(0, { warning: true })),
    slow('Awin', 125),
    'open quality',
  ],
  [
    'a volume that is too low again after a night, which was found at once',
    [{ faults: [low(0)], ended: 60 }],
    low(10 * HOURS, { found: 10 * HOURS + 8 }),
    'open silence',
  ],
  [
    'a volume that is too low again after a night, which took hours to find',
    [{ faults: [low(0)], ended: 60 }],
    low(8 * HOURS, { found: 10 * HOURS }),
    'again 1',
  ],
  [
    'a share that is too low again by morning',
    [{ faults: [failing('Meta', 0)], ended: 60 }],
    failing('Meta', 9 * HOURS),
    'again 1',
  ],
  ['and a day later', [{ faults: [failing('Meta', 0)], ended: 60 }], failing('Meta', 24 * HOURS), 'open tag'],
  ['another tag by morning', [{ faults: [failing('Meta', 0)], ended: 60 }], failing('GA4', 9 * HOURS), 'open tag'],
  [
    'the volume of a quiet site, low since hours before its server failed, and found in the outage',
    one(server(0)),
    low(-180, { found: 110, warning: true }),
    'join 1',
  ],
  [
    'the volume of a quiet site that is low since long before',
    one(server(0)),
    low(-300, { found: 110, warning: true }),
    'open silence',
  ],
  [
    'a server that fails after the volume was found to be low',
    one(low(-180, { found: -60, warning: true })),
    server(0),
    'open server',
  ],
  [
    'a tag that was slow with the server, and is slow by night without it',
    [{ faults: [server(0, { warning: true }), slow('Meta', 3)], ended: 60 }],
    slow('Meta', 6 * HOURS),
    'open quality',
  ],
  [
    'the same, an hour after the server was well again',
    [{ faults: [server(0, { warning: true }), slow('Meta', 3)], ended: 60 }],
    slow('Meta', 130),
    'again 1',
  ],
  [
    'a failure that a new version was blamed for, and that is back by night',
    [{ faults: [failing('Meta', 10)], release: 0, ended: 60 }],
    failing('Meta', 9 * HOURS),
    'open tag',
  ],
  [
    'an event of which nothing comes, while less comes of all',
    one(low(0)),
    gone('scroll', 5, { none: true }),
    'open event',
  ],
  ['an event that is rarer, while less comes of all', one(low(0)), gone('scroll', 5), 'join 1'],
  [
    'an event of which nothing comes, while nothing comes of all',
    one(low(0, { none: true })),
    gone('scroll', 5, { none: true }),
    'join 1',
  ],
  [
    'less comes of all, hours after one event has stopped',
    one(gone('scroll', 0, { none: true })),
    low(10, { found: 20 * HOURS, warning: true }),
    'open silence',
  ],
  // Quality, and what is not known here.
  ['two fields of a form that are lost together', one(field('email', 0)), field('phone', 5), 'join 1'],
  ['two fields that are lost on different days', one(field('email', 0)), field('phone', 30 * HOURS), 'open quality'],
  [
    'one field is lost on a rarer event an hour later',
    one(lost('value', 'view_item', 0)),
    lost('value', 'purchase', 75),
    'join 1',
  ],
  [
    'one field is lost on another event half a day later',
    one(lost('value', 'view_item', 0)),
    lost('value', 'purchase', 700),
    'open quality',
  ],
  [
    'another field is lost on a rarer event an hour later',
    one(lost('value', 'view_item', 0)),
    lost('items', 'purchase', 75),
    'open quality',
  ],
  [
    'a rare tag that was slow with the server is seen an hour after that was well again',
    [{ faults: [server(0, { warning: true })], ended: 200 }],
    slow('Affiliate', 14),
    'join 1',
    { now: 260 },
  ],
  [
    'and not half a day after',
    [{ faults: [server(0, { warning: true })], ended: 200 }],
    slow('Affiliate', 14),
    'open quality',
    { now: 12 * HOURS },
  ],
  ['what a probe of another version found', one(failing('Meta', 0)), { type: 'novel', at: 3 }, 'open other'],
  ['what a probe of another version found in an outage', one(server(0)), { type: 'novel', at: 3 }, 'join 1'],

  // Two causes at once.
  [
    'of two causes the stronger explains',
    [{ faults: [silent(0)] }, { faults: [server(-2)] }],
    failing('Meta', 5),
    'join 2',
  ],
  [
    'of two equal causes the nearer explains',
    [{ faults: [gone('purchase', -60)] }, { faults: [gone('purchase', 0)] }],
    missing('Meta', 4, { events: ['purchase'] }),
    'join 2',
  ],
  ['a flapping server that is back for now', one(server(0, { ended: 5 }), server(12)), failing('Meta', 14), 'join 1'],
]

for (const [what, before, fault, expected, known] of SITUATIONS) {
  test(`${what}: ${expected}`, () => assert.equal(decide(before, fault, known), expected))
}

test('the order of the incidents decides nothing', () => {
  for (const [what, before, fault, expected, known] of SITUATIONS) {
    if (before.length < 2) continue
    const mirrored = decide(before.toReversed(), fault, known)
    const renamed = mirrored.replaceAll(/\d+/g, (id) => String(before.length + 1 - Number(id)))
    assert.equal(renamed.split(' ')[0], expected.split(' ')[0], what)
  }
})

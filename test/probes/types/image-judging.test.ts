import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../src/lib/index.ts'
import { judgeImage, KNOWN_UNTIL, RELEASES } from '../../../src/probes/image-version/judge.ts'
import { versionAt, versionInAnswer } from '../../../src/probes/image-version/read.ts'

const at = (day: string) => Date.parse(day)

const JUDGED: readonly [version: string, days: number, now: string, status: string, message: RegExp][] = [
  ['4.5.0', 365, '2026-11-25', 'ok', /^The image is 4\.5\.0 of 2026-10-08, the newest$/],
  ['4.6.0', 365, '2026-11-25', 'ok', /^The image is 4\.6\.0, newer than all releases that this version knows$/],
  ['4.10.0', 365, '2026-11-25', 'ok', /newer than all/],
  ['4.0.0', 365, '2026-11-25', 'ok', /^The image is 4\.0\.0 of 2025-11-10, 332 days behind 4\.5\.0/],
  ['4.4.0', 365, '2026-11-25', 'ok', /^The image is 4\.4\.0 of 2026-07-22, 78 days behind 4\.5\.0 of 2026-10-08$/],
  ['2.3.0', 365, '2026-11-25', 'warning', /came 2\.4\.0, 3\.0\.0, .*, 4\.3\.0, 4\.4\.0$/],
  ['4.0.0', 332, '2026-11-25', 'warning', /; between them came 4\.2\.0, 4\.3\.0, 4\.4\.0$/],
  ['3.2.0', 365, '2026-11-25', 'warning', /^The image is 3\.2\.0 of 2025-09-02, 401 days behind/],
  // What was not out yet at the time does not count.
  ['3.2.0', 365, '2026-10-07', 'ok', /323 days behind 4\.4\.0 of 2026-07-22/],
  ['3.2.0', 365, '2025-09-02', 'ok', /the newest$/],
  ['4.5.0', 365, '2025-01-01', 'ok', /the newest$/],
  ['1.0.0', 365, '2020-01-01', 'ok', /the newest$/],
  // A version that the notes do not list is as old as the next one at the least.
  [
    '4.1.0',
    249,
    '2026-11-25',
    'ok',
    /^The image is 4\.1\.0, which the release notes do not list, at least 248 days behind/,
  ],
  ['4.1.0', 248, '2026-11-25', 'warning', /at least 248 days behind/],
  [
    '0.9.0',
    365,
    '2026-11-25',
    'warning',
    /came 1\.0\.0, 1\.1\.0, 2\.0\.0, 2\.1\.0, 2\.2\.0, 2\.3\.0, 2\.4\.0, 3\.0\.0 and 6 more$/,
  ],
]
for (const [version, days, now, status, message] of JUDGED) {
  test(`on ${now} the image ${version} is ${status} with ${days} days allowed`, () => {
    const judged = judgeImage(version, days, at(now))
    assert.equal(judged.status, status)
    assert.match(judged.message, message)
  })
}

const DETAILS: readonly [version: string, now: string, releasedOn: string | null, newest: string | null][] = [
  ['4.4.0', '2026-11-25', '2026-07-22', '4.5.0'],
  ['4.5.0', '2026-11-25', '2026-10-08', '4.5.0'],
  ['4.6.0', '2026-11-25', null, '4.5.0'],
  ['1.0.0', '2020-01-01', '2022-06-13', null],
]
for (const [version, now, releasedOn, newest] of DETAILS) {
  test(`the details of the image ${version} on ${now} name ${newest ?? 'no release'} as the newest`, () => {
    const { details } = judgeImage(version, 365, at(now))
    assert.deepEqual([details.released_on, details.newest], [releasedOn, newest])
  })
}

test('a table that is over a year old says so of an image that is fine', () => {
  const later = KNOWN_UNTIL + 366 * DAY
  assert.match(
    judgeImage('4.5.0', 365, later).message,
    /the newest; this version knows releases until 2026-11-25: update/,
  )
  assert.doesNotMatch(judgeImage('2.0.0', 365, later).message, /update/)
})

test('the table is in order of time and of versions, with whole digests', () => {
  const order = RELEASES.map(({ version }) => version)
  const sorted = order.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  assert.deepEqual(order, sorted)
  assert.ok(RELEASES.every(({ at: time }, index) => time > (RELEASES[index - 1]?.at ?? 0) && time <= KNOWN_UNTIL))
  assert.ok(RELEASES.every(({ digest }) => digest === null || /^[0-9a-f]{64}$/.test(digest)))
})

const IMAGE = 'gcr.io/cloud-tagging-10302018/gtm-cloud-image'
const DIGEST = RELEASES.find(({ version }) => version === '4.4.0')?.digest

const READ: readonly [body: string, version: string | null][] = [
  ['4.2.0', '4.2.0'],
  [' v4.2.0\r\n', '4.2.0'],
  ['"4.2.0"', '4.2.0'],
  ['4.10', '4.10.0'],
  ['4.02.0', '4.2.0'],
  ['4.2.0-rc.1', '4.2.0'],
  ['4.2.0+build5', '4.2.0'],
  [`${IMAGE}:4.2.0`, '4.2.0'],
  [`${IMAGE}:v4.2.0@sha256:${'0'.repeat(64)}`, '4.2.0'],
  [`${IMAGE}@sha256:${DIGEST}`, '4.4.0'],
  [`sha256:${DIGEST}`, '4.4.0'],
  [`registry.example:5000/tags/${IMAGE}:4.2.0`, '4.2.0'],
  [JSON.stringify({ image: `${IMAGE}:4.2.0` }), '4.2.0'],
  [JSON.stringify({ name: '9.9.9', imageVersion: '4.2.0' }), '4.2.0'],
  [JSON.stringify({ version: 'shop-2', image: 'gtm-cloud-image:4.2.0' }), '4.2.0'],
  [IMAGE, null],
  ['4', null],
  ['4.2.0.1', null],
  ['HTTP/1.1', null],
  ['version 4.2.0', null],
  [`${IMAGE}@sha256:${'0'.repeat(64)}`, null],
  [`${IMAGE}@sha256:0`, null],
  ['{"version":4.2}', null],
  ['["4.2.0"]', null],
  ['null', null],
]
for (const [body, version] of READ) {
  test(`${body.trim().slice(0, 80)} ${version === null ? 'names no version' : `is ${version}`}`, () => {
    const read = versionInAnswer(body, undefined)
    assert.deepEqual('version' in read ? read.version : null, version)
  })
}

const POINTED: readonly [pointer: string, version: string | RegExp][] = [
  ['/a/b', '4.2.0'],
  ['/list/1', '4.3.0'],
  ['/x~1y/~0', '4.4.0'],
  ['/', '4.5.0'],
  ['/number', /^has no text at \/number, but a version must be text/],
  ['/list/length', /^has nothing at/],
  ['/list/-', /^has nothing at/],
  ['/a/b/0', /^has nothing at/],
  ['/__proto__/x', /^has nothing at/],
  ['/constructor/name', /^has nothing at/],
]
for (const [pointer, expected] of POINTED) {
  test(`a pointer such as ${pointer} leads ${typeof expected === 'string' ? 'to the version' : 'to none'}`, () => {
    const json = { a: { b: '4.2.0' }, list: ['x', 'v4.3.0'], 'x/y': { '~': '4.4.0' }, '': '4.5.0', number: 4.2 }
    const read = versionAt(json, pointer)
    if (typeof expected === 'string') assert.deepEqual(read, { version: expected })
    else assert.match('why' in read ? read.why : '', expected)
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crontabLine, curlLine, durationWords, pushAddress, scheduleOf } from '../../web/src/features/probes/push.ts'

const ADDRESS = 'https://watch.example/push/TOKEN'

test('the address is that of PUBLIC_URL, or where the page is, and none for viewers', () => {
  assert.equal(pushAddress({ token: 'TOKEN', url: ADDRESS }, 'http://127.0.0.1:8080'), ADDRESS)
  assert.equal(pushAddress({ token: 'TOKEN', url: null }, 'http://127.0.0.1:8080'), 'http://127.0.0.1:8080/push/TOKEN')
  assert.equal(pushAddress({ token: null, url: null }, 'http://127.0.0.1:8080'), null)
})

test('a command tries again, and a line of a crontab says how the job ended', () => {
  assert.equal(curlLine(ADDRESS), `curl -fsS -m 10 --retry 5 -o /dev/null ${ADDRESS}`)
  assert.equal(crontabLine(ADDRESS, 15), `*/15 * * * * your-job; curl -fsS -m 10 --retry 5 -o /dev/null ${ADDRESS}/$?`)
})

const SCHEDULES: readonly [minutes: number, schedule: string][] = [
  [1, '*/1 * * * *'],
  [7, '*/6 * * * *'],
  [59, '*/30 * * * *'],
  [60, '0 */1 * * *'],
  [300, '0 */4 * * *'],
  [1_439, '0 */12 * * *'],
  [1_440, '30 3 * * *'],
  [4_320, '30 3 * * *'],
  [10_080, '30 3 * * 1'],
]
for (const [minutes, schedule] of SCHEDULES) {
  test(`a job that is due every ${minutes} minutes runs at ${schedule}`, () => {
    assert.equal(scheduleOf(minutes), schedule)
  })
}

test('a duration is read in the units that it needs', () => {
  assert.deepEqual([400, 42_000, 65_000, 3_725_000].map(durationWords), [
    '0\u00a0s',
    '42\u00a0s',
    '1\u00a0min 5\u00a0s',
    '1\u00a0h 2\u00a0min',
  ])
})

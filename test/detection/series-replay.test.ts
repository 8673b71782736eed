import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_VOLUME_DEFAULTS, localTime, SeriesReplay } from '../../src/detection/index.ts'
import { DAY, HOUR } from '../../src/lib/index.ts'

const START = Date.UTC(2026, 0, 5)

/** The status of each hour, of `days` days with more by day than by night. */
function statuses(days: number, levelAt: (day: number) => number): string[] {
  const replay = new SeriesReplay(localTime('UTC'), DATA_VOLUME_DEFAULTS)
  return Array.from({ length: days * 24 }, (_, hour) => {
    const usual = 40 + Math.round(30 * Math.sin((2 * Math.PI * hour) / 24)) + (hour % 7)
    return replay.next(START + hour * HOUR, Math.round(levelAt((hour * HOUR) / DAY) * usual)).status
  })
}

test('a loss that lasts is bad as long as in the probe: until all that is compared lies in it', () => {
  const [normal, lost] = [21, 24]
  const all = statuses(normal + lost, (day) => (day < normal ? 1 : 0.5))
  const first = all.indexOf('warning')
  assert.ok(first >= normal * 24 && first < normal * 24 + 6, `found in hour ${first}`)
  assert.deepEqual(new Set(all.slice(first)), new Set(['warning']))
})

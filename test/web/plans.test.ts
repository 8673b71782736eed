import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitsOf } from '../../src/management/index.ts'
import { PLANS } from '../../web/src/features/clients/client-values.ts'
import { whole } from '../../web/src/lib/words.ts'

test('the dashboard shows the limits of each plan as the service enforces them', () => {
  for (const { value: plan, limits: shown } of PLANS) {
    if (plan === 'enterprise') continue
    const { requestsPerSecond, eventsPerMonth } = limitsOf({ plan, requests_per_second: null, events_per_month: null })
    assert.ok(requestsPerSecond !== null && eventsPerMonth !== null)
    assert.equal(shown, `${whole(requestsPerSecond)} requests a second, ${whole(eventsPerMonth)} events a month`)
  }
})

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { factsOf } from '../../src/alerts/alert-message.ts'

const CASES = [
  ['tag_failure_rate', { tag_key: 'Meta CAPI' }, 0.314, '31 %'],
  ['tag_missing', { tag_key: 'Meta CAPI', event_name: 'purchase' }, 0.02, '2 %'],
  ['tag_latency', { tag_key: 'Meta CAPI' }, 1_480, '1,480 ms'],
  ['data_freshness', {}, 125, '2 h 5 min'],
  ['data_volume', { event_name: 'purchase' }, 1_284, '1,284'],
  ['user_data_quality', {}, 62, '62 of 100'],
  ['user_data_quality', { field: 'email' }, 0.5, '50 %'],
  ['ecommerce_quality', {}, 62, '62 of 100'],
  ['ecommerce_quality', { field: 'currency' }, 0.5, '50 %'],
  ['a type that is gone', {}, 7, '7'],
] as const

for (const [probeType, subject, measured, said] of CASES) {
  const about = Object.keys(subject).join(' and ')
  test(`an alert of ${probeType}${about === '' ? '' : ` about a ${about}`} says ${measured} as ${said}`, () => {
    const facts = factsOf(probeType, JSON.stringify({ findings: [{ subject, measured }] }))
    deepEqual(
      facts.filter(({ name }) => name === 'Measured'),
      [{ name: 'Measured', value: said }],
    )
  })
}

test('an alert shows no figure as if it were the threshold that it passed', () => {
  const finding = { subject: { field: 'email' }, measured: 0.398, expected: 0.8, band: { low: 0.4, high: null } }
  deepEqual(
    factsOf('user_data_quality', JSON.stringify({ findings: [finding] })).map(({ value }) => value),
    ['email', '39.8 %', '80 %', '40 %'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeTypeRecord } from '../../src/probes/api/record.ts'
import { PROBE_TYPES } from '../../src/probes/index.ts'
import { configOf, type Field, fieldsOf } from '../../web/src/features/probes/schema-fields.ts'

/** The fields of a type as its form draws them. */
const formOf = (name: string): Field[] => {
  const type = PROBE_TYPES.find((one) => one.name === name) ?? assert.fail(`no type ${name}`)
  return fieldsOf(probeTypeRecord(type))
}

const drawn = (name: string) =>
  formOf(name).map(({ label, kind, unit, fallback, isRequired }) =>
    [label, kind, unit ?? '', isRequired ? 'required' : String(fallback ?? '')].join('|'),
  )

test('the form of meta_quality names ids as such, hides the token, and has the units of its bounds', () => {
  assert.deepEqual(drawn('meta_quality'), [
    'Dataset ID|text||required',
    'Access token|secret||required',
    'Events|list||',
    'Warning match quality|number||6',
    'Critical match quality|number||4',
    'Warning coverage|number|%|50',
    'Critical coverage|number|%|0',
    'Slowest upload|choice||hourly',
  ])
})

test('the form of ga4_counts takes a list of events, and has the units of its bounds', () => {
  assert.deepEqual(drawn('ga4_counts'), [
    'Events|list||required',
    'Source|text||GA4',
    'Days|number||7',
    'Settled after|number|h|48',
    'Exact only|switch||true',
  ])
})

test('the form of image_version names addresses and pointers as such, and hides both tokens', () => {
  assert.deepEqual(drawn('image_version'), [
    'Version URL|text||',
    'Version token|secret||',
    'JSON pointer|text||',
    'Behind at most|number|days|365',
    'Hosting A workspace|text||',
    'Hosting A token|secret||',
  ])
})

test('every setting of every type has a label, and says what it is for', () => {
  for (const { name } of PROBE_TYPES) {
    for (const { label, description } of formOf(name)) {
      assert.match(label, /^[A-Z]/, name)
      assert.doesNotMatch(label, /\b(ttl|z|min rate)$/i, `${name}: the key, not words`)
      assert.ok(description.length > 0 && !description.endsWith('.'), `${name}: ${label}`)
    }
  }
})

test('a number that is still a text, as while it is typed, is sent as a number', () => {
  const fields = fieldsOf({
    config_schema: { properties: { rate: { type: 'number', default: 0.1 }, at_most: { type: 'integer' } } },
  })
  assert.deepEqual(configOf(fields, { rate: '0.20', at_most: '7' }, []), { rate: 0.2, at_most: 7 })
  assert.deepEqual(configOf(fields, { rate: '-', at_most: '' }, []), { rate: '-', at_most: null })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeTypeRecord } from '../../src/probes/api/record.ts'
import { PROBE_TYPES } from '../../src/probes/index.ts'
import { typeName } from '../../web/src/features/alerts/type-names.ts'
import { fieldsOf } from '../../web/src/features/probes/schema-fields.ts'

test('an alert calls the type of its probe as the list of types does', () => {
  assert.deepEqual(
    PROBE_TYPES.map(({ name }) => typeName(name)),
    PROBE_TYPES.map(({ title }) => title),
  )
})

test('no setting of a probe is described by half a sentence that the next field ends', () => {
  const parts = PROBE_TYPES.flatMap((type) =>
    fieldsOf(probeTypeRecord(type))
      .filter(({ description }) => /^…|…$/.test(description))
      .map(({ name, description }) => `${type.name}.${name}: ${description}`),
  )
  assert.deepEqual(parts, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROBE_TYPES } from '../../src/probes/index.ts'
import { typeName } from '../../web/src/features/alerts/type-names.ts'

test('an alert calls the type of its probe as the list of types does', () => {
  assert.deepEqual(
    PROBE_TYPES.map(({ name }) => typeName(name)),
    PROBE_TYPES.map(({ title }) => title),
  )
})

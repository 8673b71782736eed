import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../src/detection/index.ts'
import { type Status, type Subject, verdictOf } from '../../src/detection/verdict.ts'

const finding = (status: Status, subject: Subject, message: string): Finding => ({
  subject,
  status,
  message,
  measured: null,
  expected: null,
  band: { low: null, high: null },
  since: null,
  evidence: {},
})

test('the worst finding speaks for all, says how many more there are, and what is fine is named', () => {
  const verdict = verdictOf(
    [
      finding('ok', { tag_key: 'fine' }, 'fine'),
      finding('warning', { tag_key: 'slow' }, 'slow'),
      finding('critical', { tag_key: 'dead' }, 'dead'),
      null,
    ],
    'all fine',
  )
  assert.deepEqual(
    { ...verdict, details: { ...verdict.details, findings: verdict.details.findings.map(({ message }) => message) } },
    {
      status: 'critical',
      message: 'dead (and 1 more)',
      details: { findings: ['dead', 'slow'], judged: 3, unjudged: 1 },
      fine: [{ tag_key: 'fine' }],
    },
  )
})

test('without anything bad only the finding about the whole site is kept', () => {
  const verdict = verdictOf([finding('ok', {}, 'site'), finding('ok', { field: 'email' }, 'field')], 'all fine')
  assert.deepEqual([verdict.status, verdict.message, verdict.details.findings.length], ['ok', 'all fine', 1])
})

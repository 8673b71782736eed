import assert from 'node:assert/strict'
import { type FixtureParts, findingsOf, fixture, lineWith } from './fixture.ts'

/** Fails unless the lint finds what it should, on the line of `at` if that does not begin with a blank. */
export function expectFinding(parts: FixtureParts, at: string, rule: string, says: RegExp): void {
  const text = fixture(parts)
  const findings = findingsOf(text)
  const found = findings.find((finding) => finding.rule === rule && says.test(finding.message))
  assert.ok(found !== undefined, JSON.stringify(findings))
  const blank = at.length - at.trimStart().length
  if (blank === 0) assert.equal(found.line, lineWith(text, at))
}

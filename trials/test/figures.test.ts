import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withFigures } from '../lib/figures.ts'

const DOCUMENT = 'before\n<!-- chaos -->\n\nold\n\n<!-- /chaos -->\nbetween\n<!-- fuzz -->\n<!-- /fuzz -->\nafter\n'

test('the figures of a run take the place of those of the run before, and nothing else changes', () => {
  const once = withFigures(DOCUMENT, 'chaos', 'new')
  assert.equal(once, DOCUMENT.replace('old', 'new'))
  assert.equal(withFigures(once, 'chaos', 'new'), once)
  assert.equal(withFigures(DOCUMENT, 'fuzz', '1 $& 2').split('\n').slice(-5, -2).join('|'), '1 $& 2||<!-- /fuzz -->')
})

test('figures that have no place in the document are an error', () => {
  assert.throws(() => withFigures(DOCUMENT, 'soak', 'new'), /no <!-- soak -->/)
})

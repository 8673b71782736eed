import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { composeEmail } from '../../src/notifications/email/compose.ts'
import { AT, PUBLIC_URL, SAMPLES } from '../notifications/services/samples.ts'
import { openBrowser } from './support/browser.ts'

/** The narrowest phone, px. */
const PHONE = { width: 320, height: 700 }

test('on a phone no e-mail scrolls sideways, and none breaks a short word', async (t) => {
  const context = await (await openBrowser()).newContext({ viewport: PHONE })
  t.after(() => context.close())
  const page = await context.newPage()
  const faults: string[] = []
  for (const [name, message] of Object.entries(SAMPLES)) {
    await page.setContent(composeEmail(message, { publicUrl: PUBLIC_URL, at: AT }).html)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > PHONE.width) faults.push(`${name} is ${width} px wide`)
    for (const word of await page.evaluate<string[]>(BROKEN_WORDS)) faults.push(`${name} breaks ${word}`)
  }
  deepEqual(faults, [])
})

/** What the page answers: the words of at most 9 characters that are on two lines. */
const BROKEN_WORDS = `(() => {
  const found = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    for (const { 0: word, index } of node.textContent.matchAll(/(?<!\\S)[\\p{L}\\p{N},]{2,9}(?!\\S)/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => top))
      if (lines.size > 1) found.push(word)
    }
  }
  return found
})()`

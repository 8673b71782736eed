import { flushSync } from 'react-dom'

const waiting = new Set<() => void>()

/**
 * Does something that takes a while, such as the first drawing of a chart, in a frame of its own, in the order asked for. The eight charts
 * of a site, drawn in one go, kept a click waiting for 150 ms.
 *
 * @returns calls it off
 */
export function inTurn(act: () => void): () => void {
  // After the paint that comes next: the click that asked for it is answered then, and the chart follows.
  if (waiting.size === 0) requestAnimationFrame(() => setTimeout(next))
  waiting.add(act)
  return () => {
    waiting.delete(act)
  }
}

function next(): void {
  const [act] = waiting
  if (act === undefined) return
  waiting.delete(act)
  if (waiting.size > 0) requestAnimationFrame(next)
  // With what React makes of it: a chart that is there can be used.
  flushSync(act)
}

// What is printed is what is drawn when the event ends.
window.addEventListener('beforeprint', () => {
  const acts = [...waiting]
  waiting.clear()
  flushSync(() => {
    for (const act of acts) act()
  })
})

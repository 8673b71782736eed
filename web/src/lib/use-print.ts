import { flushSync } from 'react-dom'
import { external } from './external.ts'

const printing = external(false)
/** Whether the page is currently drawn for printing: in light colours, and its charts as wide as a sheet. */
export const usePrinting = printing.use

let onScreen: string | undefined

const drawFor = (isPaper: boolean) => () => {
  const { documentElement: html } = document
  if (isPaper) onScreen ??= html.dataset.mantineColorScheme
  html.toggleAttribute('data-printing', isPaper)
  // Mantine does so only after rendering, in which charts read their colours.
  html.dataset.mantineColorScheme = isPaper ? 'light' : onScreen
  if (!isPaper) onScreen = undefined
  flushSync(() => printing.set(isPaper))
}
window.addEventListener('beforeprint', drawFor(true))
window.addEventListener('afterprint', drawFor(false))

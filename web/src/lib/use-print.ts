import { flushSync } from 'react-dom'
import { external } from './external.ts'

const printing = external(false)
/** Whether the page is currently drawn for printing: in light colours, and its charts as wide as a sheet. */
export const usePrinting = printing.use

const drawFor = (isPaper: boolean) => () => {
  document.documentElement.toggleAttribute('data-printing', isPaper)
  flushSync(() => printing.set(isPaper))
}
window.addEventListener('beforeprint', drawFor(true))
window.addEventListener('afterprint', drawFor(false))

import { exact } from '../../lib/words.ts'
import classes from './chart.module.css'

/** What ECharts says of one series under the crosshair. */
export interface TooltipPoint {
  seriesName?: string
  color?: unknown
  value?: unknown
}

/** More lines than this hide the chart that they explain. */
const LINES = 10

/** The box beside the crosshair, as an element: text that ECharts would put in as HTML stays text. */
export function tooltip(
  points: readonly TooltipPoint[],
  zone: string,
  format: (value: number) => string,
): HTMLElement | string {
  const lines = points.flatMap(({ seriesName = '', color, value }) => {
    const [, number, at] = Array.isArray(value) ? (value as unknown[]) : []
    return typeof at === 'number' && typeof number === 'number' ? [{ at, number, seriesName, color }] : []
  })
  const [first] = lines
  if (first === undefined) return ''
  const shown = lines.toSorted((a, b) => b.number - a.number).slice(0, LINES)
  const box = element('div', classes.tooltip)
  box.append(element('div', classes.tooltipTime, exact(first.at, zone)))
  for (const { seriesName, color, number } of shown) {
    const line = element('div', classes.tooltipLine)
    const swatch = element('span', classes.tooltipSwatch)
    if (typeof color === 'string') swatch.style.background = color
    line.append(swatch, element('span', classes.tooltipName, seriesName), element('b', undefined, format(number)))
    box.append(line)
  }
  const rest = lines.length - shown.length
  if (rest > 0) box.append(element('div', classes.tooltipTime, `${rest} more`))
  return box
}

function element(tag: string, className: string | undefined, text?: string): HTMLElement {
  const made = document.createElement(tag)
  if (className !== undefined) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

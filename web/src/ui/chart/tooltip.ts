import { whole } from '../../lib/words.ts'
import { bucketText } from './bucket-text.ts'
import classes from './chart.module.css'
import { isThin, type PlacedPoint } from './points.ts'

/** One line of the box beside the crosshair. */
export interface TooltipLine {
  name: string
  color: unknown
  text: string
  /** For sorting, largest first. */
  value: number
}

/** Maximum number of lines; more would hide the chart. */
const LINES = 10

/** The tooltip of the points under the crosshair. */
export function tooltip(
  points: readonly object[],
  zone: string,
  format: (value: number) => string,
): HTMLElement | string {
  const found = points.flatMap((each) => {
    const { seriesName = '', color, data } = each as { seriesName?: string; color?: unknown; data?: unknown }
    const point = pointOf(data)
    return point === undefined || point.value === null ? [] : [{ name: seriesName, color, point, value: point.value }]
  })
  const [first] = found
  if (first === undefined) return ''
  const lines = found.map(({ point, value, ...rest }) => ({
    ...rest,
    value,
    text: `${format(value)}${baseText(point)}`,
  }))
  return tooltipBox(bucketText(first.point, zone), lines)
}

/** A box with a title and, below, names and values. It is an element, because ECharts would insert a string as HTML. */
export function tooltipBox(title: string, lines: readonly TooltipLine[]): HTMLElement {
  const shown = lines.toSorted((a, b) => b.value - a.value).slice(0, LINES)
  const box = element('div', classes.tooltip)
  box.append(element('div', classes.tooltipTime, title))
  for (const { name, color, text } of shown) {
    const line = element('div', classes.tooltipLine)
    const swatch = element('span', classes.tooltipSwatch)
    if (typeof color === 'string') swatch.style.background = color
    line.append(swatch, element('span', classes.tooltipName, name), element('b', undefined, text))
    box.append(line)
  }
  const rest = lines.length - shown.length
  if (rest > 0) box.append(element('div', classes.tooltipTime, `${rest} more`))
  return box
}

function pointOf(data: unknown): PlacedPoint | undefined {
  return typeof data === 'object' && data !== null && 'point' in data ? (data.point as PlacedPoint) : undefined
}

/** " of only 12" when the base of a rate is small. */
const baseText = (point: PlacedPoint): string => (isThin(point) ? ` of only ${whole(point.base ?? 0)}` : '')

function element(tag: string, className: string | undefined, text?: string): HTMLElement {
  const made = document.createElement(tag)
  if (className !== undefined) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'

/** The colours for charts, because a canvas cannot read CSS variables. */
export interface ChartColors {
  /** The value of a token of `tokens.css`, e.g. `--critical`. */
  of: (token: string) => string
  /** A token's colour with an opacity of 0–1. */
  soft: (token: string, opacity: number) => string
  /** A pattern of slanted lines on a background, for what is not over or did not happen. */
  hatch: (ground: string, line: string) => object | string
}

/** The current colours; they change with the colour scheme. */
export function useChartColors(): ChartColors {
  const scheme = useComputedColorScheme('light')
  return useMemo(() => readColors(scheme), [scheme])
}

function readColors(_scheme: 'light' | 'dark'): ChartColors {
  const style = getComputedStyle(document.documentElement)
  // The browser does not apply forced colours to a canvas.
  const isForced = window.matchMedia('(forced-colors: active)').matches
  const of = (token: string) =>
    isForced && token.startsWith('--text') ? 'CanvasText' : style.getPropertyValue(token).trim()
  return {
    of,
    hatch: hatchOf,
    soft(token, opacity) {
      const channels = /^#(..)(..)(..)$/.exec(of(token))?.slice(1) ?? ['0', '0', '0']
      return `rgba(${channels.map((channel) => Number.parseInt(channel, 16)).join(',')},${opacity})`
    },
  }
}

const SIZE = 6

/** A repeated pattern of slanted lines, in the form that ECharts accepts as a colour. */
function hatchOf(ground: string, line: string): object | string {
  const image = document.createElement('canvas')
  image.width = SIZE
  image.height = SIZE
  const pen = image.getContext('2d')
  if (pen === null) return ground
  pen.fillStyle = ground
  pen.fillRect(0, 0, SIZE, SIZE)
  pen.strokeStyle = line
  pen.beginPath()
  for (const shift of [-SIZE, 0, SIZE]) {
    pen.moveTo(shift, SIZE)
    pen.lineTo(shift + SIZE, 0)
  }
  pen.stroke()
  return { type: 'pattern', image, repeat: 'repeat' }
}

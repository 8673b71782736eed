import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'

/** What a chart takes its colours from: a canvas cannot read CSS variables. */
export interface ChartColors {
  /** The value of a token of `tokens.css`, e.g. `--critical`. */
  of: (token: string) => string
  /** A token's colour, see-through: 0 is clear, 1 is solid. */
  soft: (token: string, opacity: number) => string
  /** Slanted lines on a ground, both given as colours: for what is not over, or did not happen. */
  hatch: (ground: string, line: string) => object | string
}

/** The tokens as they are now; other ones after a change of the colour scheme. */
export function useChartColors(): ChartColors {
  const scheme = useComputedColorScheme('light')
  return useMemo(() => readColors(scheme), [scheme])
}

function readColors(_scheme: 'light' | 'dark'): ChartColors {
  const style = getComputedStyle(document.documentElement)
  // High contrast reaches no canvas.
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

/** A repeated pattern of slanted lines, as ECharts takes it for a colour: for what is not over, or did not happen. */
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

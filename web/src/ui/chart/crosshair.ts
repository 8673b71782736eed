import type { ECharts } from './echarts.ts'

/** The charts of a page that share a crosshair, by the name of their group. */
const groups = new Map<string, Set<ECharts>>()

/** What ECharts says when the crosshair moves: the value of each axis. */
interface PointerMove {
  axesInfo?: readonly { axisDim: string; value: number }[]
}

/**
 * Moves the crosshairs of a group together, by time. ECharts' own `connect` passes on the number of the point, and the fifth
 * column of one chart is another hour than the fifth of the next.
 *
 * @param onTime gets where the crosshair of this chart stands: epoch ms, or null when there is none
 * @returns takes the chart out of the group
 */
export function shareCrosshair(chart: ECharts, group: string, onTime: (at: number | null) => void): () => void {
  const members = groups.get(group) ?? new Set()
  groups.set(group, members.add(chart))
  // A crosshair that another chart has moved is not passed on again.
  let isFollowing = false
  const others = (act: (other: ECharts) => void) => {
    for (const other of members) if (other !== chart) act(other)
  }
  const onMove = (event: unknown) => {
    const at = (event as PointerMove).axesInfo?.find(({ axisDim }) => axisDim === 'x')?.value ?? null
    onTime(at)
    if (isFollowing) return
    others((other) => follow(other, at))
  }
  const follow = (other: ECharts, at: number | null) => {
    followers.get(other)?.(() => other.dispatchAction(pointerAction(other, at)))
  }
  followers.set(chart, (act) => {
    isFollowing = true
    try {
      act()
    } finally {
      isFollowing = false
    }
  })
  chart.on('updateAxisPointer', onMove)
  return () => {
    members.delete(chart)
    if (members.size === 0) groups.delete(group)
    followers.delete(chart)
    if (!chart.isDisposed()) chart.off('updateAxisPointer', onMove)
  }
}

/** Runs an action on a chart whose outcome it keeps to itself. */
const followers = new Map<ECharts, (act: () => void) => void>()

function pointerAction(chart: ECharts, at: number | null) {
  if (at === null) return { type: 'updateAxisPointer', currTrigger: 'leave' }
  return {
    type: 'updateAxisPointer',
    currTrigger: 'mousemove',
    x: chart.convertToPixel({ xAxisIndex: 0 }, at),
    // Anywhere within the chart: only the time counts.
    y: chart.getHeight() / 2,
    axesInfo: [{ axisDim: 'x', axisIndex: 0, value: at }],
  }
}

/** Hours of a week as targeting has them: 0 is Monday 0:00, 167 Sunday 23:00. */
export type WeekHours = readonly number[];

export const hoursOfWeek = 168;
const hoursOfDay = 24;

/** The hours of a day, Monday is 0. */
export const dayHours = (day: number): WeekHours =>
  Array.from({ length: hoursOfDay }, (_, hour) => day * hoursOfDay + hour);

/** The hours and others besides, or without those; in order, each once. */
export function withHours(hours: WeekHours, others: WeekHours, isOn: boolean): WeekHours {
  const left = new Set(hours);
  for (const hour of others) {
    if (isOn) left.add(hour);
    else left.delete(hour);
  }
  return [...left].toSorted((a, b) => a - b);
}

/** Where a key leads from an hour of the grid whose rows are days; the same hour at an edge. Undefined for a key that leads nowhere. */
export function hourAfterKey(hour: number, key: string): number | undefined {
  const [day, ofDay] = [Math.floor(hour / hoursOfDay), hour % hoursOfDay];
  const at = (nextDay: number, next: number) =>
    nextDay < 0 || nextDay > 6 || next < 0 || next >= hoursOfDay ? hour : nextDay * hoursOfDay + next;
  switch (key) {
    case 'ArrowRight':
      return at(day, ofDay + 1);
    case 'ArrowLeft':
      return at(day, ofDay - 1);
    case 'ArrowDown':
      return at(day + 1, ofDay);
    case 'ArrowUp':
      return at(day - 1, ofDay);
    case 'Home':
      return day * hoursOfDay;
    case 'End':
      return day * hoursOfDay + hoursOfDay - 1;
    default:
      return undefined;
  }
}

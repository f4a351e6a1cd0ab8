// Writes figures and texts.
// SPDX-License-Identifier: Apache-2.0
export const NONE = "\u2013";
const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});

export function number(value, decimals) {
  return Number.isFinite(value) ? value.toFixed(decimals) : NONE;
}

export function count(value) {
  return Number.isFinite(value) ? whole.format(value) : NONE;
}

export function setText(element, text) {
  if (element.textContent !== text)
    element.textContent = text;
}

within Saltus;
package Impact "Laws for the instant of an impact"
end Impact;
